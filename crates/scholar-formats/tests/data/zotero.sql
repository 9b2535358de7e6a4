-- The part of Zotero's schema (userdata and system, Zotero 5 and later) that holds papers, with a small library.
-- Ours: the works are made up, the shape is the real one.
CREATE TABLE libraries (libraryID INTEGER PRIMARY KEY, type TEXT NOT NULL, editable INT NOT NULL, filesEditable INT NOT NULL, version INT NOT NULL DEFAULT 0);
CREATE TABLE groups (groupID INTEGER PRIMARY KEY, libraryID INT NOT NULL UNIQUE, name TEXT NOT NULL, description TEXT NOT NULL, version INT NOT NULL);
CREATE TABLE itemTypes (itemTypeID INTEGER PRIMARY KEY, typeName TEXT, templateItemTypeID INT, display INT DEFAULT 1);
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT, fieldFormatID INT);
CREATE TABLE fieldsCombined (fieldID INTEGER PRIMARY KEY, fieldName TEXT NOT NULL, label TEXT, fieldFormatID INT, custom INT NOT NULL);
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT NOT NULL, dateAdded TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, libraryID INT NOT NULL, key TEXT NOT NULL, version INT NOT NULL DEFAULT 0, synced INT NOT NULL DEFAULT 0, UNIQUE (libraryID, key));
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value UNIQUE);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID, PRIMARY KEY (itemID, fieldID));
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT, UNIQUE (lastName, firstName, fieldMode));
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE itemCreators (itemID INT NOT NULL, creatorID INT NOT NULL, creatorTypeID INT NOT NULL DEFAULT 1, orderIndex INT NOT NULL DEFAULT 0, PRIMARY KEY (itemID, creatorID, creatorTypeID, orderIndex));
CREATE TABLE collections (collectionID INTEGER PRIMARY KEY, collectionName TEXT NOT NULL, parentCollectionID INT DEFAULT NULL, libraryID INT NOT NULL, key TEXT NOT NULL, version INT NOT NULL DEFAULT 0);
CREATE TABLE collectionItems (collectionID INT NOT NULL, itemID INT NOT NULL, orderIndex INT NOT NULL DEFAULT 0, PRIMARY KEY (collectionID, itemID));
CREATE TABLE deletedCollections (collectionID INTEGER PRIMARY KEY, dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
CREATE TABLE tags (tagID INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE itemTags (itemID INT NOT NULL, tagID INT NOT NULL, type INT NOT NULL, PRIMARY KEY (itemID, tagID));
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT, contentType TEXT, charsetID INT, path TEXT, syncState INT DEFAULT 0);
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY, dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
CREATE TABLE retractedItems (itemID INTEGER PRIMARY KEY, data TEXT, flag INT DEFAULT 0);

INSERT INTO libraries (libraryID, type, editable, filesEditable) VALUES (1, 'user', 1, 1), (2, 'group', 1, 1), (3, 'feed', 0, 0);
INSERT INTO groups VALUES (77, 2, 'Lab', '', 0);
INSERT INTO itemTypes (itemTypeID, typeName) VALUES (1, 'note'), (2, 'book'), (3, 'attachment'), (4, 'journalArticle'), (5, 'preprint'), (6, 'conferencePaper'), (7, 'annotation');
INSERT INTO fields VALUES (1, 'title', NULL), (2, 'abstractNote', NULL), (6, 'date', NULL), (13, 'url', NULL), (15, 'rights', NULL), (16, 'extra', NULL), (38, 'publicationTitle', NULL), (59, 'DOI', NULL), (110, 'archiveID', NULL), (120, 'repository', NULL), (58, 'proceedingsTitle', NULL);
INSERT INTO fieldsCombined SELECT fieldID, fieldName, NULL, NULL, 0 FROM fields;
INSERT INTO creatorTypes VALUES (1, 'author'), (2, 'contributor'), (3, 'editor');
INSERT INTO items (itemID, itemTypeID, libraryID, key) VALUES
  (1, 4, 1, 'AAAA1111'), (2, 3, 1, 'BBBB2222'), (3, 5, 1, 'CCCC3333'), (4, 4, 1, 'DDDD4444'), (5, 6, 2, 'EEEE5555'),
  (6, 3, 1, 'FFFF6666'), (7, 4, 3, 'GGGG7777'), (8, 1, 1, 'HHHH8888'), (9, 3, 1, 'IIII9999'), (10, 3, 1, 'JJJJ0000'), (11, 4, 1, 'KKKK1111');
INSERT INTO itemDataValues VALUES
  (1, 'Sleep and <i>memory</i> in mice'), (2, '2019-05-03 May 3, 2019'), (3, 'Journal of Rest'), (4, '10.1000/Sleep'),
  (5, 'PMID: 31000001' || char(10) || 'PMCID: PMC6000001' || char(10) || 'Citation Key: lopez2019'), (6, 'Mice slept.'),
  (7, 'A preprint'), (8, '2021-00-00 2021'), (9, 'arXiv:2101.00001'), (10, 'arXiv'), (11, 'In the bin'),
  (12, 'Shared work'), (13, 'Proceedings of Lab'), (14, 'From a feed'), (15, 'https://example.org/a'),
  (16, 'Creative Commons Attribution 4.0'), (17, 'Without any identifier'), (18, 1999);
INSERT INTO itemData VALUES
  (1, 1, 1), (1, 6, 2), (1, 38, 3), (1, 59, 4), (1, 16, 5), (1, 2, 6), (1, 15, 16), (1, 13, 15),
  (3, 1, 7), (3, 6, 8), (3, 110, 9), (3, 120, 10), (4, 1, 11), (5, 1, 12), (5, 58, 13), (7, 1, 14), (11, 1, 17), (11, 6, 18);
INSERT INTO creators VALUES (1, 'Maria', 'Garcia Lopez', 0), (2, '', 'World Health Organization', 1), (3, 'Ed', 'Itor', 0), (4, 'Ada', 'Lovelace', 0);
INSERT INTO itemCreators VALUES (1, 2, 1, 1), (1, 1, 1, 0), (1, 3, 3, 2), (3, 4, 1, 0), (11, 4, 1, 0);
INSERT INTO collections (collectionID, collectionName, parentCollectionID, libraryID, key) VALUES
  (1, 'Thesis', NULL, 1, 'C1'), (2, 'Sleep', 1, 1, 'C2'), (3, 'Shared', NULL, 2, 'C3'), (4, 'Gone', NULL, 1, 'C4');
INSERT INTO collectionItems VALUES (2, 1, 0), (1, 3, 0), (3, 5, 0), (4, 3, 1);
INSERT INTO deletedCollections (collectionID) VALUES (4);
INSERT INTO tags VALUES (1, 'mice'), (2, 'animals');
INSERT INTO itemTags VALUES (1, 1, 0), (1, 2, 1);
INSERT INTO itemAttachments (itemID, parentItemID, linkMode, contentType, path) VALUES
  (2, 1, 0, 'application/pdf', 'storage:Lopez 2019.pdf'), (6, 1, 2, 'application/pdf', '/papers/x.pdf'),
  (9, 3, 0, 'application/pdf', 'storage:../../etc/passwd'), (10, NULL, 0, 'application/pdf', 'storage:alone.pdf');
INSERT INTO deletedItems (itemID) VALUES (4);
INSERT INTO retractedItems VALUES (11, '{}', 0);
