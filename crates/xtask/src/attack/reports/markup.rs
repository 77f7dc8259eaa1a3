//! Texts that are markup, script or style where a page does not escape them. Each has a mark of its own, so that a page shows
//! which one got through: as an element, an attribute, a dialog or a request.

/// `MARK` stands for the mark, `CANARY` for an address at which a request is noticed.
const TEXTS: &[&str] = &[
    "<script MARK>alert('MARK')</script>",
    "</script><script MARK>alert('MARK')</script>",
    "</title><script MARK>alert('MARK')</script>",
    "</textarea><script MARK>alert('MARK')</script>",
    "</noscript><script MARK>alert('MARK')</script>",
    "</template><script MARK>alert('MARK')</script>",
    "--><script MARK>alert('MARK')</script><!--",
    "]]><script MARK>alert('MARK')</script>",
    "<script MARK src=CANARY></script>",
    "<script MARK type=module>import 'CANARY'</script>",
    "<img MARK src=x onerror=\"alert('MARK')\">",
    "<img MARK src=CANARY>",
    "<img MARK srcset=CANARY>",
    "\"><img MARK src=x onerror=alert('MARK')>",
    "'><img MARK src=x onerror=alert('MARK')>",
    "\" MARK onfocus=\"onfocus=null;alert('MARK')\" autofocus tabindex=\"1",
    "' MARK onmouseover='alert(\"MARK\")' x='",
    "` MARK onclick=`alert(1)` x=`",
    "<svg MARK onload=alert('MARK')>",
    "<svg><script MARK>alert('MARK')</script></svg>",
    "<svg><use MARK href=\"CANARY#x\" /></svg>",
    "<svg><animate MARK onbegin=alert('MARK') attributeName=x dur=1s></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img MARK src=x onerror=alert('MARK')>",
    "<math MARK><annotation-xml encoding=\"text/html\"><img MARK src=x onerror=alert('MARK')></annotation-xml></math>",
    "<a MARK href=\"javascript:alert('MARK')\">x</a>",
    "javascript:alert('MARK')",
    "JaVaScRiPt&colon;alert('MARK')//MARK",
    "java\tscript:alert('MARK')",
    "data:text/html,<script MARK>alert('MARK')</script>",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==MARK",
    "vbscript:MARK",
    "CANARY",
    "<iframe MARK srcdoc=\"<script>parent.alert('MARK')</script>\"></iframe>",
    "<iframe MARK src=\"javascript:parent.alert('MARK')\"></iframe>",
    "<iframe MARK src=CANARY></iframe>",
    "<object MARK data=CANARY></object>",
    "<embed MARK src=CANARY>",
    "<link MARK rel=stylesheet href=CANARY>",
    "<link MARK rel=\"prefetch dns-prefetch preconnect\" href=CANARY>",
    "<style MARK>@import url(CANARY);</style>",
    "</style><style MARK>*{background:url(CANARY)}</style>",
    "<p MARK style=\"position:fixed;inset:0;background:url(CANARY)\">over everything</p>",
    "<meta MARK http-equiv=refresh content=\"0;url=CANARY\">",
    "<base MARK href=CANARY>",
    "<form MARK action=CANARY><button formaction=CANARY>Sign in</button></form>",
    "<input MARK autofocus onfocus=onfocus=null,alert('MARK')>",
    "<details MARK open ontoggle=alert('MARK')>x</details>",
    "<video MARK poster=CANARY><source onerror=alert('MARK')></video>",
    "<audio MARK src=CANARY onerror=alert('MARK')></audio>",
    "<body MARK onload=alert('MARK')>",
    "<marquee MARK onstart=alert('MARK')>x</marquee>",
    "<div MARK style=\"animation:x\" onanimationstart=alert('MARK')>x</div>",
    "<x-MARK>x</x-MARK>",
    "<plaintext MARK>",
    "<textarea MARK>",
    "<template MARK shadowrootmode=open><img src=CANARY></template>",
    "<dialog MARK open>x</dialog>",
    "<a MARK id=root name=root href=CANARY ping=CANARY>x</a>",
    "<form MARK id=q><input name=value></form>",
    "<!-- MARK",
    "<!--MARK--!><img MARK src=CANARY>",
    "<![CDATA[<img MARK src=CANARY>]]>",
    "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY MARK SYSTEM \"file:///etc/passwd\">]>",
    "&lt;img MARK src=x onerror=alert('MARK')&gt;",
    "&#60;script MARK&#62;alert('MARK')&#60;/script&#62;&#60;img MARK src=CANARY&#62;",
    "\\u003cimg MARK src=x onerror=alert('MARK')\\u003e",
    "\\x3cimg MARK src=x onerror=alert('MARK')\\x3e",
    "'-alert('MARK')-'",
    "';alert('MARK')//",
    "\\';alert('MARK')//",
    "${alert('MARK')}",
    "<img/MARK/src=CANARY>",
    "<img\nMARK\nsrc=CANARY\n>",
    "<IMG MARK SRC=CANARY>",
    "<<img MARK src=CANARY>",
    "<img MARK src=CANARY//",
    "\u{202e}MARK\u{2066}<img MARK src=CANARY>",
    "\u{61c}\u{200b}MARK\u{feff}\u{200f}",
    "\u{0}<img MARK src=CANARY>",
    "\u{1b}[31mMARK\u{9b}2J",
];

/// One such text.
#[derive(Clone, Debug)]
pub(crate) struct Markup {
    pub(crate) mark: String,
    pub(crate) text: String,
}

/// All of them; requests go to `port` on loopback. The last one repeats itself so many times.
pub(crate) fn all(port: u16, repeated: usize) -> Vec<Markup> {
    let huge = "<i MARK>".repeat(repeated);
    let texts = TEXTS.iter().copied().chain([huge.as_str()]);
    let markup = |(number, text): (usize, &str)| {
        let mark = format!("zq{number:02}z");
        let canary = format!("http://127.0.0.1:{port}/{mark}");
        Markup { text: text.replace("CANARY", &canary).replace("MARK", &mark), mark }
    };
    texts.enumerate().map(markup).collect()
}

/// The texts of a process that plays a peer. Its arguments: the port, the length of the last text, and the text that comes first.
pub(crate) fn texts(words: &[String]) -> Vec<String> {
    let number = |at: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(0_u16);
    rotated(&all(number(1), usize::from(number(2))), usize::from(number(3)))
}

/// The texts, from the one at `first` on: what comes first stands in more places.
pub(crate) fn rotated(markup: &[Markup], first: usize) -> Vec<String> {
    let mut texts: Vec<String> = markup.iter().map(|one| one.text.clone()).collect();
    texts.rotate_left(first % markup.len());
    texts
}
