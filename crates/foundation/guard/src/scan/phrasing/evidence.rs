//! The classes of words, and the evidence that they make in sequence.

/// One piece of evidence: a word of each class, in this order, each near the one before, within one sentence.
pub(super) struct Evidence {
    pub(super) weight: i32,
    /// How many words further the next step may be.
    pub(super) gap: usize,
    pub(super) steps: &'static [u64],
    pub(super) reason: &'static str,
}

const fn evidence(weight: i32, gap: usize, reason: &'static str, steps: &'static [u64]) -> Evidence {
    Evidence { weight, gap, steps, reason }
}

macro_rules! classes {
    ($($name:ident $at:literal $words:literal)*) => {
        $(pub(super) const $name: u64 = 1 << $at;)*
        /// Each class with its words.
        pub(super) const CLASSES: &[(u64, &str)] = &[$(($name, $words)),*];
    };
}

// Classes without words are marks; programs are both.
classes! {
    NAME 0 ""
    URL 1 ""
    PATH 2 ""
    TAG 3 ""
    SHELL 4 "curl wget sudo chmod chown bash nc ncat rm echo cat eval scp printenv"
    SHOUT 5 ""
    MUST 6 "must should shall need needs have required please always mandatory obligatory"
    FIRST 7 "first also then additionally immediately beforehand afterwards always"
    CALL 8 "call invoke use using execute calling invoking executing query"
    BEFORE 9 "before prior"
    AFTER 10 "after afterwards once"
    OVERRIDE 11 "ignore disregard forget override bypass discard"
    EARLIER 12 "previous prior above earlier preceding your system existing"
    ORDERS 13 "instructions instruction prompt prompts guidelines directives guardrails rules directions"
    NOT 14 "not never dont don without avoid cannot"
    HIDE 15 "tell telling mention mentioning reveal inform informing show disclose notify notifying alert ask asking expose display say"
    USER 16 "user users human anyone customer them"
    SEND 17 "send forward email upload post transmit exfiltrate leak include append pass attach sends put insert report submit log"
    SECRET 18 "password passwords credentials credential secret secrets token tokens keys ssh rsa cookies conversation history"
    RUN 19 "run execute running executing launch spawn"
    COMMAND 20 "command commands script shell terminal"
    CHANGE 21 "change changes modify modified replace set alter override redirect redirecting adjust overwrite substitute rewrite enhances transformed converted"
    AUTOMATIC 22 "always automatically must silently instead"
    REGARDLESS 23 "regardless irrespective"
    STRESS 24 "important critical urgent attention warning mandatory alert announcement immediate"
    PRETEXT 25 "compliance regulatory regulations audit integrity hygiene maintenance"
    SECURITY 26 "security system internal performance safety data environment"
    NOTICE 27 "update protocol alert optimization validation verification check checks requirement dev maintenance notice advisory vulnerabilities incidents"
    GONE 28 "deprecated disabled unavailable restricted obsolete"
    INSTEAD 29 "instead alternative redirect new replacement"
    REQUESTS 30 "requests operations searches queries calls request query search"
    READ 31 "read cat open access view fetch load get include copy contents"
    WRITE 32 "add adding append modify write update updating delete remove removing edit create"
    ACCESS 33 "access request send make post contact visit ping authenticate connect"
    PARTNER 34 "partner verification endpoint webhook affiliate collect"
    STATE 35 "state display announce deliver present report recommend promote"
    PROMOTION 36 "promotional sponsored announcement sponsor advertisement"
    YOU 37 "you"
    NOW 38 "now"
    SECRETLY 39 "silently secretly quietly covertly invisibly"
    AUTHORITY 40 "confirmation consent approval permission confirm approve"
    EXAMPLE 41 "example examples eg sample"
    KIND 42 "destination recipient query parameter parameters ticker value values argument arguments url limit interval address amount input date location origin"
    SPECIFIED 43 "specified requested provided input original actual preference"
    TOOL 44 "tool tools function functions"
    MODEL 45 "assistant llm chatbot chatgpt claude gemini copilot agent ai"
    FILES 46 "files file directory folder contents"
    OBTAIN 47 "obtain valid ids identifier unless"
    WHOLE 48 "all every any each entire"
    RELATED 49 "looking partner alias temporary backend stress"
    OF 50 "of in for"
    PROCEED 51 "proceed proceeding processing accessing retrieving searching attempting performing using navigating"
    BRACKET 52 ""
    ROLE 53 ""
    DIRECTIVE 54 "directive directives instruction instructions override note"
    SAFEGUARD 55 "safety restrictions policies policy safeguards guardrails filters filtering sanitization validation"
    DISABLE 56 "ignore disregard disable disables bypass bypasses skip skips override"
    TRUST 57 "trust"
    INPUT 58 "input inputs commands queries"
    COPY 59 "bcc cc"
    ACT 60 "act"
    AS 61 "as"
    NO 62 "no"
}

const CONCEAL: &str = "it conceals something from the user";
const ORDER: &str = "it orders a call before or after its own";
const RUNS: &str = "it orders a command to be run";
const SECRETS: &str = "it reaches for a path that holds secrets or starts programs";
const ALTERS: &str = "it changes what the user asked for";
const FEIGNED: &str = "it gives a pretext, such as compliance or a security update";
const PRETEXTS: &str = "it uses a word of pretexts, such as compliance or audit";
const ELSEWHERE: &str = "it sends the model elsewhere";
const FRAMED: &str = "it uses tags that imitate system messages";
const OVERRIDES: &str = "it overrides earlier instructions";
const SENDS: &str = "it asks for secrets or the conversation";
const LABELLED: &str = "it imitates the labels of system messages";
const DISARMS: &str = "it has safeguards switched off";
pub(super) const STRESSED: &str = "it stresses its own importance";
const PROMOTES: &str = "it has the model announce something";
const ADDRESSED: &str = "it addresses the model";
const CALMS: &str = "";

/// What documentation has, too: such evidence alone is not severe, however much of it there is.
pub(super) const SOFT: [&str; 6] = [ORDER, PRETEXTS, ELSEWHERE, STRESSED, PROMOTES, ADDRESSED];

/// What asks the model for nothing: however much of it there is, it is not suspicious.
pub(super) const IDLE: [&str; 4] = [PRETEXTS, FEIGNED, STRESSED, ADDRESSED];

/// Each counts once. What is common in documentation is not enough alone, nor with another of its kind.
pub(super) const EVIDENCE: &[Evidence] = &[
    evidence(7, 4, OVERRIDES, &[OVERRIDE, EARLIER, ORDERS]),
    evidence(2, 2, OVERRIDES, &[YOU, NOW]),
    evidence(5, 4, CONCEAL, &[NOT, HIDE, USER]),
    evidence(5, 4, CONCEAL, &[NO, MUST, HIDE, USER]),
    evidence(2, 6, CONCEAL, &[SECRETLY, CALL | SEND | RUN | CHANGE | WRITE | READ]),
    evidence(4, 4, FRAMED, &[TAG]),
    evidence(4, 8, RUNS, &[RUN, COMMAND | SHELL, SHELL]),
    evidence(3, 10, RUNS, &[MUST, RUN, COMMAND | SHELL]),
    evidence(2, 6, RUNS, &[SHELL, SHELL]),
    evidence(5, 8, SECRETS, &[READ | SHELL | SEND, PATH]),
    evidence(3, 8, SECRETS, &[WRITE, PATH]),
    evidence(3, 6, ORDER, &[MUST, FIRST, READ | WRITE]),
    evidence(3, 6, ORDER, &[MUST, FIRST, CALL]),
    evidence(1, 6, ORDER, &[MUST, FIRST, CALL, NAME | TOOL]),
    evidence(2, 6, ORDER, &[BEFORE, PROCEED | CALL, MUST]),
    evidence(2, 12, ORDER, &[BEFORE, NAME | REQUESTS | TOOL, MUST, CALL | READ | SEND]),
    evidence(3, 10, ORDER, &[AFTER, MUST, CALL]),
    evidence(2, 10, ALTERS, &[AUTOMATIC, CHANGE, KIND | NAME]),
    evidence(2, 6, ALTERS, &[CHANGE, KIND | REQUESTS, SPECIFIED | NAME]),
    evidence(4, 5, ALTERS, &[REGARDLESS | OVERRIDE, USER]),
    evidence(1, 5, ALTERS, &[USER, SPECIFIED]),
    evidence(2, 8, ALTERS, &[RELATED, RELATED]),
    evidence(2, 8, ALTERS, &[CHANGE, REQUESTS, NAME]),
    evidence(3, 3, PRETEXTS, &[PRETEXT]),
    evidence(2, 2, FEIGNED, &[SECURITY, NOTICE]),
    evidence(2, 6, FEIGNED, &[MUST, OF, WHOLE, REQUESTS]),
    evidence(3, 6, ELSEWHERE, &[NAME | TOOL, GONE, SECURITY | NOTICE | PRETEXT]),
    evidence(2, 10, ELSEWHERE, &[MUST, INSTEAD | CALL, NAME, INSTEAD]),
    evidence(2, 6, ELSEWHERE, &[MUST, INSTEAD, NAME | TOOL]),
    evidence(3, 8, ELSEWHERE, &[MUST | FIRST, ACCESS, URL]),
    evidence(2, 4, ELSEWHERE, &[PARTNER, PARTNER]),
    evidence(2, 8, ELSEWHERE, &[SEND | ACCESS, URL]),
    evidence(3, 8, PROMOTES, &[MUST | CALL, STATE, STRESS | PROMOTION]),
    evidence(2, 8, PROMOTES, &[PROMOTION]),
    evidence(3, 6, SENDS, &[SEND, SECRET, OF]),
    evidence(1, 6, SENDS, &[SEND, WHOLE, SECRET]),
    evidence(3, 8, SENDS, &[MUST, WRITE, WHOLE, FILES]),
    evidence(3, 2, LABELLED, &[BRACKET, DIRECTIVE]),
    evidence(2, 1, LABELLED, &[ROLE]),
    evidence(1, 1, LABELLED, &[ACT, AS]),
    evidence(3, 4, DISARMS, &[DISABLE, SAFEGUARD]),
    evidence(3, 3, DISARMS, &[TRUST, WHOLE, INPUT | USER]),
    evidence(3, 3, ALTERS, &[AUTOMATIC, COPY]),
    evidence(1, 1, STRESSED, &[SHOUT]),
    evidence(1, 1, STRESSED, &[STRESS]),
    evidence(1, 1, ADDRESSED, &[MODEL]),
    evidence(-2, 6, CALMS, &[USER, AUTHORITY]),
    evidence(-2, 6, CALMS, &[AUTHORITY, USER]),
    evidence(-2, 12, CALMS, &[CALL, OBTAIN]),
    evidence(-2, 4, CALMS, &[HIDE, USER, AUTHORITY]),
];
