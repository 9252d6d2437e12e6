//! What a word can do in a sentence. A language file lists words by these names; the grammar knows only the names.

/// A set of word classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tags(u128);

impl Tags {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn only(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

macro_rules! tags {
    ($($(#[$doc:meta])* $name:ident = $section:literal,)*) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "an index, one for each class")]
        #[derive(Clone, Copy)]
        enum Index { $($name,)* }

        impl Tags {
            $($(#[$doc])* pub(crate) const $name: Self = Self(1 << Index::$name as u32);)*

            /// The class that a section of a language file names.
            pub(crate) fn of_section(section: &str) -> Option<Self> {
                match section { $($section => Some(Self::$name),)* _ => None }
            }
        }
    };
}

tags! {
    /// Carries no meaning of its own: greetings, "just", "then", "now".
    FILLER = "filler",
    /// "please" and its like: turns a verbless pair into a request.
    POLITE = "polite",
    /// "also", "another": a further request, not a correction.
    ALSO = "also",
    /// "yes", "ok": changes nothing.
    AFFIRM = "affirm",
    /// A verb of paying in a form that can ask ("send").
    PAY = "pay",
    /// A verb of paying that asks only under a frame ("überweisen", "enviar").
    PAY_INFINITIVE = "pay-infinitive",
    /// Asks for paying back: a refund when no payee and amount stand with it.
    REFUND = "refund",
    /// The same, as an infinitive.
    REFUND_INFINITIVE = "refund-infinitive",
    /// Joins with a noun of paying to a request ("make a transfer", "set up").
    MAKE = "make",
    /// The same, as an infinitive.
    MAKE_INFINITIVE = "make-infinitive",
    /// "transfer", "payment", "money", "amount".
    PAY_NOUN = "pay-noun",
    /// "standing order".
    ORDER_NOUN = "order-noun",
    /// "can you", "I want to", "go ahead and": makes a verb behind it a request.
    FRAME = "frame",
    /// "can I": a request only with "please".
    FRAME_MINE = "frame-mine",
    /// "I need to": a request, but a plan beside a vague time.
    FRAME_NEED = "frame-need",
    /// "sometime", "one day", "soon": makes a plan of a need.
    VAGUE_TIME = "vague-time",
    /// "not", "don't", "never".
    NEG = "neg",
    /// "no" as an answer.
    NO = "no",
    /// "don't tell him": a negation that is not about the payment.
    NEG_HARMLESS = "neg-harmless",
    /// "but", "sondern": what follows stands against a negation.
    CONTRAST = "contrast",
    /// "if", "unless", "once", "as soon as".
    CONDITION = "condition",
    /// "suppose", "what if", "would".
    HYPOTHESIS = "hypothesis",
    /// "what", "how", "why".
    ASK = "ask",
    /// At the head of a sentence a question ("did", "is", "should I").
    ASK_HEAD = "ask-head",
    /// ", right?": a question mark that leaves a request a request.
    ASK_TAG = "ask-tag",
    /// "remind me".
    REMIND = "remind",
    /// Money the other way: "owes me", "request", "collect".
    REVERSE = "reverse",
    /// A thing that asks another for money ("payment request"): sending one is no payment.
    REVERSE_NOUN = "reverse-noun",
    /// Stops everything where it stands alone, whatever else the word is ("para!").
    STOP_ALONE = "stop-alone",
    /// Begins a condition that becomes a polite request by a word of [`Tags::YOU_COULD`] beside the verb
    /// ("wenn du") or by thanks ([`Tags::GRATEFUL`]) in the sentence ("se puder", of me or of you).
    IF_YOU = "if-you",
    /// "könntest", "zou kunnen": closes what [`Tags::IF_YOU`] began.
    YOU_COULD = "you-could",
    /// Thanks for a favour asked: only another can be asked for one.
    GRATEFUL = "grateful",
    /// A form of a verb of paying that asks only behind a frame, "please" or not ("sending", "to go").
    PAY_FRAMED = "pay-framed",
    /// Before a value it turns the negation into "only" ("n'envoie que 20").
    ONLY = "only",
    /// "said", "asked", "wrote".
    SAY = "say",
    /// Announces the words of somebody else ("here is the email", "it says").
    ANNOUNCE = "announce",
    /// A verb that asks for something else than money ("tell", "call").
    OTHER_VERB = "other-verb",
    /// Asks for work on a text ("translate", "summarise").
    TEXT_WORK = "text-work",
    /// Marks the whole message as another's text or a doubt about one ("dear customer", "is this legit").
    SUSPECT = "suspect",
    /// "cancel", "stop", with or without an object.
    STOP = "stop",
    /// Takes everything back as a sentence of its own ("never mind", "hold on").
    TAKE_BACK = "take-back",
    /// Takes only the last request back ("scratch that").
    TAKE_BACK_LAST = "take-back-last",
    /// Begins a correction ("I meant", "actually").
    REPAIR = "repair",
    /// Marks a correction wherever it stands ("instead").
    INSTEAD = "instead",
    /// "make it", "change it to": a correction of the amount.
    FIX = "fix",
    /// "increase", "change": from an old value to a new one.
    CHANGE = "change",
    /// The same, as an infinitive.
    CHANGE_INFINITIVE = "change-infinitive",
    /// "to": whom money goes to.
    TO = "to",
    /// "for": whom money is for, or what it is for.
    FOR = "for",
    /// "from".
    FROM = "from",
    /// "into", "in": an own account as the goal.
    INTO = "into",
    /// "of" between a noun of paying and an amount, or after a share.
    OF = "of",
    /// "and".
    AND = "and",
    /// "so", "therefore": a request follows from what stands before.
    SO = "so",
    /// A verb that tells how something is or was ("is", "costs", "had"): what stands with it is no request.
    STATES = "states",
    /// "is", "costs", "gets": a sum behind it is what there is to pay.
    AMOUNTS_TO = "amounts-to",
    /// A word cut short by a full stop that ends no sentence ("evtl.").
    SHORT = "short",
    /// "because": what follows only tells why.
    BECAUSE = "because",
    /// Calls somebody at the head of a sentence ("bro", "tío"): there it is nobody who acts or gets.
    VOCATIVE = "vocative",
    /// A word before a number of up to 31 that makes it a day of the month ("am", "el día").
    DAY_MARK = "day-mark",
    /// "or".
    OR = "or",
    /// "each".
    EACH = "each",
    /// "respectively".
    RESPECTIVELY = "respectively",
    /// "him", "her", "them" as the one who gets.
    PRONOUN = "pronoun",
    /// "I", "he", "we" as the one who acts.
    SUBJECT = "subject",
    /// "me".
    ME = "me",
    /// "it", "that": the request itself.
    IT = "it",
    /// Articles and possessives.
    DET = "det",
    /// A person without a name ("sister", "friend").
    PERSON = "person",
    /// Begins words that are not arguments ("because", "who", "about").
    TAIL = "tail",
    /// "about", "at most": no exact amount.
    APPROX = "approx",
    /// "half", "rest", "everything": must be worked out.
    COMPUTED = "computed",
    /// "split": asks for a payment whose amounts must be worked out.
    SPLIT = "split",
    /// "in total".
    TOTAL = "total",
    /// "same amount".
    SAME = "same",
    /// "I owe".
    DEBT = "debt",
    /// A currency's word or code; the value is the code.
    CURRENCY = "currency",
    /// A hundredth of the currency ("cents").
    CENT = "cent",
    /// A number word; the value is the number.
    NUMBER = "number",
    /// A scale ("thousand", "lakh", "k"); the value is the number.
    SCALE = "scale",
    /// "a" before a scale.
    ONE_OF = "one-of",
    /// "half" before a scale.
    HALF = "half",
    /// "point" between number words.
    POINT = "point",
    /// "and" inside number words.
    NUMBER_AND = "number-and",
    /// A rhythm; the value is the domain's word, or `other`.
    RHYTHM = "rhythm",
    /// "every": a rhythm with the unit behind it.
    EVERY = "every",
    /// A unit of time; the value is day, week, month, quarter or year.
    TIME_UNIT = "time-unit",
    /// A month's name; the value is its number.
    MONTH = "month",
    /// A weekday's name.
    WEEKDAY = "weekday",
    /// "today", "tomorrow", "next week".
    DAY_WORD = "day-word",
    /// "on", "by", "until" before a date.
    ON = "on",
    /// "starting": a start date follows.
    START = "start",
    /// An ordinal word ("first", "last").
    ORDINAL = "ordinal",
    /// "one" behind a value: "the 30 one".
    ONE = "one",
    /// "card".
    CARD_NOUN = "card-noun",
    /// "account".
    ACCOUNT_NOUN = "account-noun",
    /// "ending in".
    ENDING = "ending",
    /// "freeze", "block".
    FREEZE = "freeze",
    /// "unfreeze", "unblock".
    UNFREEZE = "unfreeze",
    /// "dispute".
    DISPUTE = "dispute",
    /// Why a dispute; the value is the domain's word.
    DISPUTE_REASON = "dispute-reason",
    /// "add", "save".
    ADD = "add",
    /// "payee".
    PAYEE_NOUN = "payee-noun",
    /// A line of the profile; the value is the domain's word.
    PROFILE = "profile",
    /// Harmless words, so that they do not count as part of a name.
    COMMON = "common",
    /// A word before a number that makes it no amount ("invoice", "number", "flat").
    LABEL = "label",
    /// A thing that is counted, or a unit of time of day ("tickets", "pm"): the number before it is no amount.
    UNIT = "unit",
    /// A title before a name ("Mr").
    TITLE = "title",
    /// "already": behind a name it begins what has been done.
    ALREADY = "already",
    /// Names what is written with a payment ("reference", "Verwendungszweck").
    REFERENCE = "reference",
}
