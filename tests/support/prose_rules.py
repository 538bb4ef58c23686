"""State the rules of style for everything that a person reads, with what to write instead.

``tests/docs/test_prose.py`` applies them to every tracked file that it does not exclude. Patterns are regular
expressions; a space matches any white space, so that a phrase may continue on the next line (in a look-behind, write
``\\s``).
"""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """A pattern of a phrase, what to write instead, and a text that breaks the rule."""

    pattern: str
    instead: str
    example: str


# Phrases that a native speaker stumbles over, in upper or lower case.
PHRASES = [
    Rule(r"\bcomes? to\b(?! an? end)", "the summary, or the total", "what a run comes to"),
    Rule(r"\b(?:is|are|was|were) told by\b", "is located from, is computed from", "It is told by the best samples."),
    Rule(r"\bso many\b", "the number", "so many of them"),
    Rule(r"\bthose that are\b", "the noun", "those that are left"),
    Rule(r"\bsuch as are\b", "the noun", "such as are left"),
    Rule(r"\bbeside\b", "next to, compared with, or while it runs", "It stands beside its ceiling."),
    Rule(r"\blies? over\b", "is above", "what lies over its ceiling"),
    Rule(r"\bof no account\b", "ignored", "a line of no account"),
    Rule(r"\b(?:for|in|by) want of\b|\bwant of (?:memory|something)\b", "out of, without", "for want of memory"),
    Rule(r"\b(?:is|are|was|were) turned away\b", "is rejected", "A client is turned away."),
    Rule(r"\bwhat it was with\b", "the noun", "the run and what it was with"),
    Rule(r"\bby (?:itself|themselves)\b", "alone", "It runs by itself."),
    Rule(r"\bfor whomever\b", "for any process", "for whomever connects"),
    Rule(r"\bin turns\b", "alternately", "They run in turns."),
    Rule(r"\bdoes not tell\b|\bdo not tell\b", "does not report", "The system does not tell."),
    Rule(r"\b(?:before|after|until) the run did\b|\breach(?:es|ed)? its end\b", "the run is incomplete",
         "The file ends before the run did."),
    Rule(r"\bduels?\b", "paired comparison", "A duel follows."),
    Rule(r"\bheadlines?\b", "main value", "the headline of a run"),
    Rule(r"(?<!on\s)\bon paper\b(?! or)", "nominal", "its peak on paper"),
    Rule(r"\bin an order in which\b", "in the order of", "In an order in which the newest is first."),
    Rule(r"\bis no program\b", "not found on PATH", "fio is no program."),
    Rule(r"\bnames? (?:it|them) in full\b", "give its full path", "Name it in full."),
    Rule(r"\bnothing else (?:takes|took) part\b|\bnothing else had run\b", "without interference",
         "when nothing else takes part"),
    Rule(r"\bwhat is expected of it\b", "the values that the site file has ranges for", "what is expected of it"),
    Rule(r"\bhas most of its sockets\b", "occupies most of a socket", "a machine that has most of its sockets"),
    Rule(r"\bwants (?:none|one|some|all) of\b", "needs none of", "Python wants none of these."),
    Rule(r"\b(?:is|are) (?:looked|searched) for\b", "is located, is sought", "before levels are looked for"),
    Rule(r"\b(?:is|are) such as\b", "is, for example,", "Its name is such as kvm."),
    Rule(r"\b(?:is|are) not what (?:it|they) should be\b", "is not valid", "The file is not what it should be."),
    Rule(r"\bis called one\b|\bis taken for one\b", "is treated as", "It is taken for one."),
    # One word for each concept.
    Rule(r"(?<!published\s)(?<!-)(?<!<)(?<!</)\bfigures?\b(?! [\d{])", "metric value; a picture is a chart",
         "every figure of the run"),
    Rule(r"\brated values?\b|\bnameplate values?\b|\bnameplate promises\b", "reference value", "its rated value"),
    Rule(r"\breally delivers?\b|\bdelivers? (?:only )?(?:\d|\{)", "delivers, or a share",
         "It delivers 90 % of its peak."),
    Rule(r"\b(?:has|have|was|were) stepped\b|\blevel (?:moved|stepped)\b", "changed; the position is a change point",
         "The level moved."),
    Rule(r"\beach cell of (?:the|a) (?:plan|run|sweep)\b", "experiment", "each cell of the plan"),
]  # fmt: skip

# Names of limits are MIN and MAX, in every language.
NAMES = [
    Rule(r"\b_?(?:FEWEST|LEAST|MOST)_\w+|\bk(?:Most|Fewest|Least)[A-Z]\w*|\b(?:fewest|most)_(?!common\b)\w+",
         "MIN_X, MAX_X, kMax", "kMostRows"),
]  # fmt: skip

# The start of a docstring or a comment without a subject. A question is a sentence, and so is "Of these, two remain".
FRAGMENT = Rule(
    r"(?:(?:Of|By|As) (?!default\b|[^.:]*,)|(?:What|Whatever|Whether|Whom|Those) )"
    r"(?![^.]*\?)(?!it (?:measures|does not show):)",
    "a sentence with a subject",
    "By a file of another name.",
)

# The verbs with which the docstring of a function starts, in the imperative.
VERBS = """
Add Adjust Analyse Append Ask Assert Bind Build Call Change Check Choose Close Combine Compare Compile Connect Copy
Correct Count Create Defer Draw Emulate End Estimate Expect Export Find Fit Flush Group Handle Ignore Install Judge
Keep Kill Launch Learn Leave List Load Lock Make Measure Mount Move Multiply Note Open Parse Plan Prepare Press Print
Raise Read Receive Record Redirect Reduce Release Remove Rename Render Replace Restrict Return Run Send Serve Set
Shorten Show Simulate Skip Split Start Stop Summarise Sync Take Time Update Use Wait Write Yield
"""
