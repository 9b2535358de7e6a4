"""Texts of PDFs as other readers make them, for the example pdf_words.

python pdf_peers.py OUT FOLDER... writes OUT/<reader>/<name>.txt, seconds and failures; needs pymupdf, pypdf, pdfminer.six
and pypdfium2.
"""

import glob
import logging
import os
import sys
import time

import pymupdf
import pypdf
import pypdfium2
from pdfminer.high_level import extract_text

logging.disable(logging.CRITICAL)


def by_pymupdf(path):
    return [page.get_text("text") for page in pymupdf.open(path)]


def by_pypdf(path):
    return [page.extract_text() for page in pypdf.PdfReader(path).pages]


def by_pypdfium2(path):
    return [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(path)]


def by_pdfminer(path):
    return extract_text(path).split("\f")


READERS = {"pymupdf": by_pymupdf, "pypdf": by_pypdf, "pypdfium2": by_pypdfium2, "pdfminer": by_pdfminer}

out, *folders = sys.argv[1:]
files = sorted(path for folder in folders for path in glob.glob(os.path.join(folder, "*.pdf")))
for name, reader in READERS.items():
    os.makedirs(os.path.join(out, name), exist_ok=True)
    failures = 0
    start = time.time()
    for path in files:
        try:
            pages = reader(path)
        except Exception as error:
            print(name, path, repr(error), file=sys.stderr)
            failures += 1
            continue
        stem = os.path.splitext(os.path.basename(path))[0]
        with open(os.path.join(out, name, stem + ".txt"), "w", errors="replace") as file:
            file.write("\f".join(pages))
    for what, value in (("seconds", f"{time.time() - start:.1f}"), ("failures", failures)):
        with open(os.path.join(out, name, what), "w") as file:
            file.write(str(value))
