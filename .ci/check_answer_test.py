#!/usr/bin/env python3
"""The answer check finds what it is for: each damage to a good answer is named."""
import copy
import unittest

import check_answer

PAPER = {
    "meta": {"id": "acl:1", "title": "On naïve things", "authors": ["A. Author"], "year": 2020, "venue": "ACL"},
    "sections": [{"heading": "Abstract", "text": "Naïve things work. Others do not."}],
}
QUOTE = {"reference": 1, "passage_id": "acl:1#0", "start": 0, "end": 18, "text": "Naïve things work."}
GOOD = {
    "schema": "openscholar.answer/1", "question": "What works?", "mode": "evidence", "abstained": False,
    "sentences": [{"text": "Naïve things work.", "citations": [1], "quotes": [QUOTE],
                   "support": {"verdict": "supported", "score": 0.9, "judge": "lexical/1"}}],
    "references": [{"number": 1, "paper_id": "acl:1", "title": "On naïve things", "authors": ["A. Author"],
                    "year": 2020, "venue": "ACL", "url": None, "doi": None}],
    "notices": [], "usage": {}, "timings_ms": {}, "run": "r1",
}


def problems(change):
    answer = copy.deepcopy(GOOD)
    change(answer)
    wrong = check_answer.shape_problems(answer)
    if not wrong:
        wrong = check_answer.citation_problems(answer) + check_answer.source_problems(answer, {"acl:1": PAPER})
        wrong += check_answer.offset_problems(answer, lambda _: {"acl:1#0": PAPER["sections"][0]["text"]})
    return "\n".join(wrong)


class Damage(unittest.TestCase):
    def test_a_good_answer_is_good(self):
        self.assertEqual(problems(lambda answer: None), "")

    def test_each_damage_is_named(self):
        cases = [
            (lambda a: a.pop("run"), "run is missing"),
            (lambda a: a.update(abstained=0), "abstained is 0"),
            (lambda a: a.update(schema="openscholar.answer/2"), "schema is"),
            (lambda a: a.update(mode="guess"), "mode is"),
            (lambda a: a["sentences"][0].update(citations=[2]), "cites [2]"),
            (lambda a: a["sentences"][0].update(quotes=[]), "without a located quotation"),
            (lambda a: a["sentences"][0].pop("support"), "without a verdict"),
            (lambda a: a["sentences"][0]["support"].update(verdict="maybe"), "verdict is 'maybe'"),
            (lambda a: a["sentences"][0]["quotes"][0].update(text="Naive things work."), "not in acl:1"),
            (lambda a: a["sentences"][0]["quotes"][0].update(start=1, end=19), "other text at 1..19"),
            (lambda a: a["sentences"][0]["quotes"][0].update(end=17), "are not 18 characters"),
            (lambda a: a["sentences"][0]["quotes"][0].update(passage_id="acl:2#0"), "quotes passage acl:2#0"),
            (lambda a: a["sentences"][0]["quotes"][0].update(passage_id="acl:1#7"), "no passage acl:1#7"),
            (lambda a: a["references"][0].update(number=2), "numbered [2]"),
            (lambda a: a["references"][0].update(title="Invented"), "the paper says"),
            (lambda a: a["references"][0].update(paper_id="acl:9"), "not among the papers"),
        ]
        for change, words in cases:
            with self.subTest(words):
                self.assertIn(words, problems(change))


if __name__ == "__main__":
    unittest.main()
