"""How people say plainly, in English and in Chinese, what should be known of them.

Each entry holds regular expressions for a sentence in NFKC without the mark at its end; case is
ignored.
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

_ZH_NOW = "(?:[现現]在|目前|也|[还還]|已[经經]|家)*"
_ZH_A = "(?:一?[名个個位])?"
_ZH_OFTEN = "(?:比[较較]|更|最|很|非常|一直|特[别別]|不太|不|一般|通常|也|[还還]是)*"
_ZH_FAMILY = (
    "(?:妻子|太太|老婆|丈夫|先生|老公|爱人|愛人|伴侣|伴侶|女朋友|男朋友|父[亲親]|母[亲親]|爸爸?|[妈媽][妈媽]?|[儿兒]子|女[儿兒]|孩子"
    "|哥哥|弟弟|姐姐|妹妹|[爷爺][爷爺]|奶奶|外公|外婆|狗|[猫貓])"
)
_ZH_NO_ROLE = "(?![说說想问問不否在怎谁誰指])"
_ZH_AND = "(?:[并並]且?|然[后後]|[顺順]便|同[时時]|另外|[还還]有|那[么麼]?|再)*"
_ZH_PLEASE = (
    "[请請]?[你您]?(?:告[诉訴]我|[帮幫]我|[给給]我[讲講说說解介列写寫查找推]|解[释釋]|介[绍紹]|[说說][说說明]"
    "|[讲講][讲講]|分析一下|比[较較]一下|查一?[下查])|[请請]"
)
_ZH_WHAT = "(?:什[么麼]|怎[么麼样樣]|如何|[为為]何|哪|[谁誰]|[几幾]|多少|是否|[吗嗎呢])"

CHINESE_PHRASES: Mapping[str, tuple[str, ...]] = {
    "lead": (
        r"^(?:你好|您好|嗨|另外|[还還]有|[对對]了|[顺順]便[说說]一下|那[个個]|[谢謝]{2})[\s,.!:。]*",
    ),
    "note": (
        r"^[请請]?[你您]?(?:要|一定要|务必|[帮幫替]我)?(?:[记記]住|[记記]下|注意|[别別]忘了"
        r"|不要忘[记記])[\s,:。]*",
    ),
    "aside": (
        rf"\s*[,，;；]\s*{_ZH_AND}(?={_ZH_PLEASE})",
        rf"\s*(?:[并並]且?|然[后後]|[顺順]便|同[时時])(?={_ZH_PLEASE})",
        rf"\s*[,，;；]\s*{_ZH_AND}(?=[^,，;；]*{_ZH_WHAT}[^,，;；]*[?？]$)",
        rf"\s*[,，;；]\s*{_ZH_AND}(?=[^,，;；我]*(?:{_ZH_WHAT}[^,，;；我]*|[吗嗎呢])$)",
    ),
    "denied": (
        r"^(?:不[对對]|[你您]?[搞弄说說记記写寫]?[错錯]了|不是[这這][样樣]|更正|[纠糾]正|其[实實])(?:一下)?"
        r"[\s,.:;!。]*",
    ),
    "right": (
        r"^.*?不是(?P<wrong>.+?)[,\s]*而是.+$",
        r"^.*?[应應][该該]?是.+$",
        r"^.*?是.+?[,\s]*而?不是(?P<wrong>.+)$",
        r"^.*?不是(?P<wrong>.+?)[,\s]*是.+$",
    ),
    "contrast": (r"^(?:是|那是|[这這]是).+,\s*而?不是.+$",),
    "own": (
        r"^我[们們]?的(?![问問][题題]|意思)(?P<thing>[^,;]{1,20}?)(?:是|[为為]|有)(?P<value>.+)$",
        r"^我(?:最喜[欢歡]|最[爱愛])的(?P<thing>[^,;]{1,20}?)是(?P<value>.+)$",
    ),
    "single": (
        r"^我(?:最(?:喜[欢歡]|[爱愛])的|的?(?:母[语語]|家[乡鄉]|[职職][业業]|老板|生日|[时時][区區]|年[龄齡]|[国國]籍))",
    ),
    "wish": (
        r"^(?:以[后後]|今[后後]|[从從][现現]在[起开開]始?|[从從]今以[后後]|每次|[总總]是|始[终終]"
        r"|永[远遠])[\s,]*.{2,}$",
        r"^(?:不要|[别別]|勿|切勿)再?(?:用|使用|[写寫]|[给給]|引用|加|出[现現]|包含|提|放|列|[说說]|叫)"
        r".{1,60}$",
        r"^(?:回答|[报報]告|答案|回[复復]).{0,6}(?:要|用|不要|[请請]).{1,60}$",
    ),
    "name": (
        r"^[请請]?(?:以[后後])?[你您]?(?:可以)?(?:叫|[称稱]呼)我(?P<value>[^\s,;的]{1,20})$",
        r"^我(?:的名字)?叫做?(?P<value>[^\s,;]{1,20})$",
        r"^我的名字是(?P<value>[^\s,;]{1,20})$",
    ),
    "ended": (
        r"^(?P<before>我)(?:[现現]在)?(?:已[经經])?不再(?P<rest>.+?)了?$",
        r"^(?P<before>我)(?:[现現]在)?(?:已[经經])?不(?P<rest>.+)了$",
        r"^(?P<before>我)(?:以前|[从從]前|曾[经經]?)(?P<rest>.+)$",
    ),
    "not_so": (
        r"^(?P<before>我)(?:[现現]在)?(?:已[经經])?不(?P<rest>.+)$",
        r"^(?P<before>我)(?:[现現]在)?[没沒](?P<rest>有.+)$",
        r"^(?P<before>我[对對].{1,20}?)(?:并|並)?不(?P<rest>[过過]敏)$",
    ),
    "identity": (
        rf"^我{_ZH_NOW}(?P<value>在[^,;]{{1,20}}?(?:[当當]|做|担任)[^,;事]{{1,20}}?)了?$",
        rf"^我{_ZH_NOW}是{_ZH_A}{_ZH_NO_ROLE}(?P<value>[^,;]{{1,40}}?)了?$",
    ),
    "diet": (
        rf"^我{_ZH_NOW}(?:是|吃|只吃|遵循)(?P<value>(?:全|纯|純|[严嚴]格)?(?:素|[荤葷]|清真|生酮|[无無]麸[质質])"
        r"(?:食|食者|食主[义義]者|[饮飲]食)?)了?$",
    ),
    "bond": (
        r"^我(?:[现現]在|已[经經])*(?P<value>[结結]婚|已婚|未婚|[离離]婚|[单單]身|[订訂]婚)了?$",
    ),
    "family": (
        rf"^(?P<thing>我[们們]?(?:的|家的?)?{_ZH_FAMILY}(?:的名字)?)(?P<value>(?:[叫是在有]|今年|喜[欢歡]|[对對]).{{1,60}})$",
        rf"^我(?P<value>有.{{0,6}}{_ZH_FAMILY})$",
    ),
    "origin": (
        r"^我(?:[来來]自|出生[在于於]|的?(?:老家|家[乡鄉])[是在])(?P<value>[^,;]{1,20})$",
        r"^我在(?P<value>[^,;]{1,20}?)(?:出生|[长長]大)的?$",
    ),
    "native": (r"^我的?母[语語]是(?P<value>.{1,20})$",),
    "skill": (
        rf"^我{_ZH_OFTEN}(?:精通|擅[长長]|熟悉|熟[练練]|[会會][说說讲講用]|在[学學]|正在[学學])(?P<value>.{{1,60}})$",
    ),
    "tool": (
        rf"^我{_ZH_OFTEN}(?:平[时時]|主要|每天|一直)*(?:使用|用|[开開])(?P<value>.{{1,60}})$",
        r"^我(?:已[经經])?(?:[从從](?P<wrong>.{1,30}?))?(?:[换換改转轉](?:成|到|用|[为為])了?)(?P<value>.{1,30})$",
    ),
    "goal": (r"^我(?:的目[标標]是|打算|[计計][划劃])(?P<value>.{2,60})$",),
    "habit": (
        r"^我(?:通常|一般|[总總]是|平[时時]|[经經]常)(?P<value>(?:[工早晚夜][作起睡上里]|跑步|[骑騎][车車]|[运運][动動]|[读讀][书書]|出差).{0,40})$",
    ),
    "also": ("也|[还還]|兼[职職]",),
    "fields": (
        "(?:[专專]家|高手|新手|爱好者|愛好者|粉[丝絲]|博士|[硕碩]士|父[亲親]|母[亲親]|爸爸|[妈媽][妈媽]|[儿兒]子|女[儿兒]|朋友|[学學]徒|哥哥|姐姐|弟弟|妹妹)$",
    ),
    "role": (rf"^作[为為]{_ZH_A}(?P<value>[^,;]{{1,40}})$",),
    "home": (rf"^我{_ZH_NOW}(?:住在|搬到了?|定居在?)(?P<value>[^,;]{{1,30}}?)了?$",),
    "work": (
        rf"^我{_ZH_NOW}在.{{1,30}}(?:工作|上班|[读讀][书書]|上[学學]|任教|教|[读讀])(?P<value>.{{0,40}})$",
        rf"^我{_ZH_NOW}(?:[从從]事|[负負][责責]|[养養]了?|[经經][营營])(?P<value>.{{1,40}})$",
    ),
    "condition": (
        rf"^我{_ZH_NOW}[对對](?P<value>.{{1,20}}?)(?:[严嚴]重)?[过過]敏$",
        rf"^我{_ZH_NOW}(?:有|患有?了?|得了|[确確][诊診]了?)(?P<value>[^,;]{{0,10}}"
        r"(?:病|症|炎|癌|[过過]敏|哮喘|抑[郁鬱]))$",
    ),
    "preference": (
        rf"^我{_ZH_OFTEN}(?:希望|想要)(?P<value>.{{0,10}}(?:回答|[报報]告|答案).{{1,60}})$",
        rf"^我{_ZH_OFTEN}(?:喜[欢歡]|偏好|[爱愛](?:用|看|吃)|[讨討][厌厭]|[习習][惯慣]|[倾傾]向[于於]?"
        r"|只用|不用|不吃|不喝)(?![你您这這])(?P<value>.{1,80})$",
    ),
    "answers": (
        "回答|[报報]告|答案|回[复復]|解[释釋]",
        "^我(?:更|比[较較]|不再)?(?:喜[欢歡]|偏好)",
    ),
    "negated": ("不|[别別]|勿|[讨討][厌厭]",),
    "tongue": (
        r"用(?P<value>[中英德法日韩韓俄意]|西班牙|葡萄牙|阿拉伯)[语語文](?:[来來])?(?:回|答|[写寫]|[说說])",
    ),
    "rather": (r"\s*,?(?:而|但|也)?不(?:是|要|喜[欢歡]|[爱愛]|用)?", r"[胜勝]於?于?|多[过過]"),
    "several": (r"\s*[,、]\s*|和|[与與]|或者?",),
    "moment": (
        "[这這](?:次|一次|[个個][问問][题題]|份[报報]告|[个個]回答)|今天|今晚|明天|昨天|[刚剛]才"
        "|[暂暫][时時]|此刻",
    ),
    "changed": ("[现現]在|不再|改[行为為]|搬",),
    "concise": ("[简簡][短洁潔明]|精[炼煉简簡]|短一[点點些]",),
    "balanced": ("[适適]中",),
    "comprehensive": ("[详詳][细細尽盡]|全面|深入|完整",),
    "overview": ("概[览覽述要]|大[概致]",),
    "practical": ("[实實][用践踐]|可操作",),
    "conceptual": ("原理|理[论論]|概念",),
    "bullets": ("列表|[要条條][点點目]",),
    "tables": ("表格",),
    "prose": ("段落|[连連][贯貫]的?文字",),
    "examples": ("例子|[举舉]例|示例",),
}
