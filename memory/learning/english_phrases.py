"""How people say plainly in English what should be known of them.

Each entry holds regular expressions for a sentence without the mark at its end; case is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping

_ANSWERS = "(?:answers?|reports?|replies|responses|summaries|texts|explanations)"
_NOW = "(?: now| currently| also| still| actually| myself| just| mainly| mostly)*"
_OFTEN = (
    "(?: really| much| usually| generally| always| strongly| also| now| still| mostly| mainly"
    "| often| normally| typically| currently)*"
)
_FAMILY = (
    "(?:wife|husband|spouse|partner|fianc[eé]e?|girlfriend|boyfriend|mother|father|mum|mom|dad"
    "|(?:older |younger |little |big )?(?:sister|brother)|son|daughter|child|kid|baby|twin"
    "|grand(?:mother|father|ma|pa|son|daughter|child)|aunt|uncle|cousin|niece|nephew"
    "|dog|cat|horse|pet)s?"
)
_SKILLED = (
    "(?:fluent|proficient|skilled|experienced|versed|well[- ]versed|trained|certified|good"
    "|comfortable|familiar)"
)
_NO_ROLE = r"(?!bit\b|little\b|lot\b|few\b|(?:big |huge |great )?fan\b)"
_NO_THING = r"(?!(?:this|that|it|you|your|to know|to see)\b)"
_ILLNESS = (
    "(?:diabetes|asthma|cancer|epilepsy|migraines?|depression|anxiety|adhd|autism|eczema|lupus"
    "|dementia|hiv|leprosy|allerg(?:y|ies)|[a-z]{3,}(?:itis|osis|aemia|emia|algia|phobia))"
)
_PLEASE = (
    "(?:please|(?:can|could|would|will) you|(?:tell|show|give|help) me|let me know"
    r"|explain (?:to me|how|why|what|when|where|who))\b"
)
_BE = "is|are|was|were|do|does|did|can|could|should|would|will"
_WHAT = rf"(?:what|why|how)(?:'s\b| (?:{_BE}|has|have|many|much|long|far|old|often|to)\b)"
_AND = "(?:(?:and|but|so|then|also|now) )*"

ENGLISH_PHRASES: Mapping[str, tuple[str, ...]] = {
    "lead": (
        r"^\W+",
        r"^(?:(?:hi|hello|hey)(?: there)?|also|so|well|and|but|oh|ok|okay|thanks|thank you"
        r"|by the way|btw|fyi|please)\b[\s,.!:]*",
    ),
    "note": (
        r"^(?:remember|note|keep in mind|bear in mind|don't forget|do not forget)\b(?:,? please,?)?"
        r"(?: that\b[\s,:]*|[:,]\s*| (?=(?:i|i'm|my|we|our)\b))",
    ),
    "aside": (
        rf"(?: and| but| so)?\s*(?:[,;–—]|\s-)\s*{_AND}(?={_PLEASE}|{_WHAT})",
        rf"\s*(?:[,;:–—]|\s-)\s*{_AND}(?=(?:{_BE}|what|why|how|who|when|where|which)\b.*\?$)",
        rf"\s*;\s*{_AND}(?=(?:describe|compare|summari[sz]e|find|list|search|look up|research)\b)",
        rf"\s+(?:and|but|so) {_AND}(?={_PLEASE}|(?:what|why|how|who|when|where|which)\b.*\?$)",
    ),
    "denied": (
        r"^(?:no|nope|actually|wrong|correction|not quite)\b[\s,.:;!-]*",
        r"^(?:that|this|it)(?:'s| is| was) (?:wrong|incorrect|not (?:right|correct|true|so))\b"
        r"[\s,.:;!-]*",
        r"^you(?:'re| are| were) (?:wrong|mistaken)\b[\s,.:;!-]*",
    ),
    "right": (
        r"^.*\bnot (?P<wrong>.+?),? but .+$",
        r"^.+?\b(?:is|are|was|were|am|be|means?|it's|that's|i'm|live|work|in|on|at)\b.*?[,;]?"
        r" (?:and |but )?not (?P<wrong>.+)$",
        r"^.*\bshould (?:be|read|say)\b.+$",
    ),
    "contrast": (r"^(?:it|that)(?:'s| is| was| should be) .+, not .+$",),
    "own": (
        r"^(?:my|our) (?!(?:question|point|query|problem|request|guess)\b)"
        r"(?P<thing>[^,;]{2,60}?) (?:is|are|was|were|has|have|costs?|lasts?) (?P<value>.+)$",
    ),
    "single": (
        r"^my (?:favou?rite|preferred|native|main|first|home ?town|mother tongue|nationality|job"
        r"|profession|occupation|employer|boss|manager|birthday|time ?zone|age)\b",
    ),
    "wish": (
        r"^(?:do not|don't|never|avoid|no)\b.{2,120}\b(?:in|for|from)"
        rf"(?: your| my| the| any| all| future| every| each)* {_ANSWERS}$",
        r"^(?:always|never) (?:answer|write|reply|respond|cite|use|give|include|show|quote|call"
        r"|address|start|begin|end|put|add|format|keep|mention|explain|convert|translate|avoid|be)"
        r"\b.{2,}$",
        r"^(?:from now on|from here on|henceforth|going forward)\b.{4,}$",
        r"^.{4,}\bfrom now on$",
        rf"^(?:keep|make) (?:your |my |the |all )*{_ANSWERS} .+$",
    ),
    "name": (
        r"^(?:just |you (?:can|may) )?call me (?P<value>[^\s,;]+(?: [A-Z][^\s,;]*)?)$",
        r"^my (?:first |last )?name(?:'s| is) (?P<value>[^,;]{1,60})$",
    ),
    "ended": (
        r"^(?P<before>i(?:'m| am)?) no longer (?P<rest>.+)$",
        r"^(?P<before>i) used to (?!be\b)(?P<rest>.+)$",
        r"^(?P<before>i(?:'m| am)) not (?P<rest>.+?) any ?(?:more|longer)$",
        r"^(?P<before>i) (?:don't|do not) (?P<rest>.+?) any ?(?:more|longer)$",
    ),
    "not_so": (
        r"^(?P<before>i(?:'m| am)) not (?P<rest>.+)$",
        r"^(?P<before>i) (?:don't|do not) (?P<rest>.+)$",
    ),
    "identity": (
        rf"^i(?:'m| am){_NOW} (?:an?|the) {_NO_ROLE}(?P<value>[^,;]{{2,80}})$",
        rf"^i(?:'m| am)?{_NOW} work(?:ing)?{_NOW} as (?:an? |the )?(?P<value>[^,;]{{2,80}})$",
        r"^i(?:'ve| have)?(?: just)? (?:became|become) (?:an? )?(?P<value>[^,;]{2,80})$",
    ),
    "role": (r"^(?:speaking )?as an? (?P<value>[^,;]{2,60})$",),
    "home": (
        rf"^i(?:'ve| have)?{_NOW} (?:live|moved(?: from [^,;]{{2,40}}?)?)"
        r" (?:in|to|near|at) (?P<value>[^,;]{2,80}?)(?: (?:with|since|for|because)\b[^,;]*)?$",
        rf"^i(?:'m| am){_NOW} (?:living|based) (?:in|near|at) (?P<value>[^,;]{{2,80}}?)"
        r"(?: (?:with|since|for|because)\b[^,;]*)?$",
    ),
    "work": (
        rf"^i(?:'m| am)?{_NOW} work(?:ing)? (?:in|at|for|with|on) (?P<value>[^;]{{2,100}})$",
        rf"^i{_NOW} (?:study|teach|run|own|manage|keep|speak)"
        r" (?!to\b|into\b|out\b|\w+ing\b)(?P<value>[^;]{2,100})$",
        r"^i have (?:an?|two|three|four|five|six|\d+|several|many|some)"
        r" (?!questions?\b|problems?\b|doubts?\b|idea|look\b)(?P<value>[^;]{2,100})$",
    ),
    "diet": (
        rf"^i(?:'m| am){_NOW} (?:an? )?(?P<value>(?:strictly |strict )?(?:vegan|vegetarian"
        r"|pescatarian|pescetarian|omnivore|flexitarian|carnivore|meat[- ]eater))$",
        rf"^i{_OFTEN} (?:eat|follow|keep|observe)(?: an?| to an?)?"
        r" (?P<value>(?:strictly |only |no )?(?:vegan|vegetarian|pescatarian|kosher|halal"
        r"|(?:gluten|dairy|lactose)[- ]free|low[- ]\w+|plant[- ]based|keto|paleo|mediterranean"
        r"|meat)"
        r"(?: (?:diet|food|again))?)$",
        rf"^i(?:'m| am){_NOW} on an? (?P<value>[^,;]{{3,40}} diet)$",
    ),
    "bond": (
        rf"^i(?:'m| am){_NOW} (?P<value>(?:happily |newly )?(?:married|divorced|widowed|single"
        r"|engaged|separated)(?: (?:to|with|for|since|and) .{2,80})?)$",
    ),
    "family": (
        rf"^(?P<thing>(?:my|our) {_FAMILY}(?:'s name)?)"
        r"(?:'s| (?:is|are|was|were|has|have|works?|lives?|studies|study|likes?|plays?))"
        r" (?P<value>.{2,120})$",
    ),
    "origin": (
        rf"^i(?:'m| am| come){_NOW}(?: originally)? from (?P<value>[^,;]{{2,60}})$",
        r"^i was (?:born|raised)(?: and raised)? in (?P<value>[^,;]{2,60})$",
        r"^i grew up in (?P<value>[^,;]{2,60})$",
    ),
    "native": (
        r"^(?:my|our) (?:(?:native|first|mother|main) (?:language|tongue)|mother tongue)"
        r"(?:'s| is) (?P<value>[^,;]{2,60})$",
        rf"^i(?:'m| am){_NOW} an? native (?P<value>\w+)(?:[- ]speaker| speaker)$",
    ),
    "skill": (
        rf"^i(?:'m| am){_NOW}(?: very| quite| highly)? {_SKILLED} (?:in|at|with)"
        r" (?!(?:this|that|it|you|your)\b)(?P<value>[^;]{2,120})$",
        rf"^i{_OFTEN} know (?P<value>(?!(?:what|how|why|where|when|who|that|if|it|this|nothing"
        r"|about|of)\b)[^;]{2,80}?)(?: very| quite)? (?:well|by heart)$",
        rf"^i(?:'m| am){_NOW} (?:learning|studying|practi[sc]ing|teaching myself)"
        r" (?P<value>(?!(?:how|about|to|that)\b)[^;]{2,80})$",
        r"^i(?:'ve| have) (?P<value>(?:\w+ ){1,3}(?:years?|decades?)(?:'? of)? experience"
        r" (?:in|with|as) [^;]{2,80})$",
    ),
    "tool": (
        rf"^(?:i|we){_OFTEN} (?:use|code in|program in|write in|develop in|build with|drive|ride"
        r"|run on)"
        rf" {_NO_THING}(?!(?:a lot|both|them|these|those|to)\b)(?P<value>[^;]{{2,120}})$",
        r"^(?:i|we)(?:'ve| have)?(?: just| recently| now)? (?:switched|migrated|moved over|changed)"
        r"(?: from (?P<wrong>[^,;]{2,60}?))? to (?:using )?(?P<value>[^,;]{2,60})$",
    ),
    "condition": (
        rf"^i(?:'m| am){_NOW}(?: very| highly| severely| mildly)? (?:allergic|intolerant|sensitive)"
        r" to (?P<value>[^;]{2,80})$",
        rf"^i(?:'m| am){_NOW} (?P<value>(?:strictly )?(?:vegan|vegetarian|diabetic|coeliac|celiac"
        r"|dyslexic|epileptic|asthmatic|pregnant|deaf|blind|colou?r[- ]?blind"
        r"|(?:lactose|gluten)[- ]intolerant))$",
        rf"^i(?:'ve got| have| suffer from| was diagnosed with|(?:'ve| have) been diagnosed with)"
        rf"{_NOW} (?!(?:questions?|problems?|doubts?)\b)(?P<value>(?:[\w-]+ ){{0,2}}{_ILLNESS}"
        r"(?: (?:to|since|of) [^;,]{1,60})?)$",
    ),
    "preference": (
        rf"^(?:i|we)(?:'d| would)?{_OFTEN} (?:prefer|favou?r|dislike|hate|detest|love|enjoy|like"
        r"|can't stand|cannot stand|always use|never use|never eat|never drink|only use|only eat"
        r"|always want|would rather|'d rather|(?:do not|don't) (?:like|want|use|eat|drink|need"
        r"|enjoy|care for))\b"
        rf" {_NO_THING}(?P<value>.{{3,160}})$",
        r"^i(?:'m| am) (?:a )?(?:big |huge |great )?fan of (?P<value>.{3,160})$",
        r"^i'd rather\b (?P<value>.{3,160})$",
        r"^my (?:favou?rite|preferred) (?P<value>.{3,160})$",
    ),
    "answers": (_ANSWERS, rf"^i(?:'d| would)?{_OFTEN} (?:no longer )?prefer\b"),
    "negated": (r"\b(?:no longer|no|not|don't|never|avoid|without|dislike|hate|can't)\b",),
    "tongue": (
        r"\b(?:answers?|reply|replies|respond|write|speak|reports?)\b.*\bin (?P<value>english"
        r"|german|french|spanish|italian|portuguese|dutch|polish|russian|ukrainian|turkish|arabic"
        r"|hindi|chinese|mandarin|japanese|korean|norwegian|swedish|danish|finnish|greek)\b",
    ),
    "rather": (r"\s*,?\s+(?:and |but )?(?:not|rather than|instead of|over|(?:more )?than)\s+",),
    "several": (r"\s*,\s*|\s+(?:and|or)\s+",),
    "moment": (
        r"\b(?:this (?:time|once|report|answer|question|one)|today|tonight|right now|for now"
        r"|at the moment|just now|here|yesterday|tomorrow)\b",
    ),
    "goal": (
        r"^(?:my|our) (?:main |big |long[- ]term )?(?:goal|aim|ambition)(?: for [^,;]{2,30})?"
        r" is (?:to )?(?P<value>.{3,160})$",
        rf"^i{_OFTEN} (?:plan|intend|aim) to (?P<value>(?!(?:know|ask|see|find)\b).{{3,160}})$",
    ),
    "habit": (
        r"^i (?:usually|normally|often|generally|always|typically|never) (?P<value>(?:work|get up"
        r"|wake|commute|travel|cycle|walk|train|cook|read|write|sleep|drink|eat|listen|watch|play"
        r"|swim|run)\b.{2,120})$",
    ),
    "also": (r"\b(?:also|too|as well|part[- ]time|besides|second)\b",),
    "fields": (
        r"^(?:an? )?(?:[\w-]+ ){0,2}?(?:experts?|specialists?|authority|beginner|novice"
        r"|newcomer|pro|veteran|fan|believer|phd|doctorate|degree|major|masters?(?:'s)?|bachelor(?:'s)?|interest)$",
    ),
    "changed": (
        r"\b(?:now|these days|became|become|no longer|any ?more|moved|switched|changed)\b",
    ),
    "concise": ("short|shorter|brief|briefer|concise|succinct|terse|to the point",),
    "balanced": ("balanced|medium[- ]length",),
    "comprehensive": ("detailed|comprehensive|thorough|in[- ]depth|exhaustive|long|longer",),
    "overview": ("overviews?|high[- ]level|big picture",),
    "practical": ("practical|hands[- ]on|actionable|how[- ]to",),
    "conceptual": ("conceptual|theor(?:y|etical)|principles",),
    "bullets": ("bullets?|bullet points|lists",),
    "tables": ("tables",),
    "prose": ("prose|paragraphs|running text",),
    "examples": ("examples",),
}
