// What the bank's record says, beside a reply that says more. In the language of the page's reader, as a list: no
// grammar, no values. The bank sends kinds; a kind this page does not know is "something else".

/** A conversation's requests by where they stand. */
export interface Record {
  readonly confirmed: readonly string[];
  readonly waiting: readonly string[];
  readonly dropped: readonly string[];
}

interface Catalogue {
  readonly lead: string;
  readonly confirmed: string;
  readonly waiting: string;
  readonly dropped: string;
  readonly nothing: string;
  readonly kinds: Readonly<globalThis.Record<string, string>>;
}

const KINDS = ["transfer", "refund", "standing_order_create", "standing_order_change", "standing_order_cancel", "card_freeze", "card_unfreeze", "dispute", "payee", "profile_change", "limit_change", "other"];

function catalogue(texts: readonly string[], kinds: readonly string[]): Catalogue {
  const [lead = "", confirmed = "", waiting = "", dropped = "", nothing = ""] = texts;
  return { lead, confirmed, waiting, dropped, nothing, kinds: Object.fromEntries(KINDS.map((kind, place) => [kind, kinds[place] ?? kind])) };
}

const ENGLISH = catalogue(
  ["That is not what the bank's record of this conversation says.", "Confirmed by you", "Waiting for you", "Cancelled or replaced", "nothing"],
  ["payment", "sending back", "new standing order", "change of a standing order", "end of a standing order", "card freeze", "card unfreeze", "dispute", "new payee", "change of details", "limit", "something else"],
);

const OTHERS: Readonly<globalThis.Record<string, Catalogue>> = {
  de: catalogue(
    ["So steht es nicht in den Aufzeichnungen der Bank zu diesem Gespräch.", "Von Ihnen bestätigt", "Wartet auf Sie", "Abgebrochen oder ersetzt", "nichts"],
    ["Zahlung", "Rücküberweisung", "neuer Dauerauftrag", "Änderung eines Dauerauftrags", "Ende eines Dauerauftrags", "Kartensperre", "Kartenentsperrung", "Reklamation", "neuer Empfänger", "Änderung von Angaben", "Limit", "etwas anderes"],
  ),
  fr: catalogue(
    ["Ce n'est pas ce que dit le registre de la banque sur cette conversation.", "Confirmé par vous", "En attente de vous", "Annulé ou remplacé", "rien"],
    ["paiement", "renvoi d'argent", "nouvel ordre permanent", "modification d'un ordre permanent", "fin d'un ordre permanent", "blocage de carte", "déblocage de carte", "contestation", "nouveau bénéficiaire", "changement de coordonnées", "plafond", "autre chose"],
  ),
  es: catalogue(
    ["No es lo que dice el registro del banco sobre esta conversación.", "Confirmado por usted", "Pendiente de usted", "Cancelado o sustituido", "nada"],
    ["pago", "devolución", "nueva orden permanente", "cambio de una orden permanente", "fin de una orden permanente", "bloqueo de tarjeta", "desbloqueo de tarjeta", "reclamación", "nuevo beneficiario", "cambio de datos", "límite", "otra cosa"],
  ),
  it: catalogue(
    ["Il registro della banca su questa conversazione dice altro.", "Confermato da lei", "In attesa di lei", "Annullato o sostituito", "niente"],
    ["pagamento", "restituzione", "nuovo ordine permanente", "modifica di un ordine permanente", "fine di un ordine permanente", "blocco carta", "sblocco carta", "contestazione", "nuovo beneficiario", "modifica dei dati", "limite", "altro"],
  ),
  nl: catalogue(
    ["Dat staat niet in de administratie van de bank over dit gesprek.", "Door u bevestigd", "Wacht op u", "Geannuleerd of vervangen", "niets"],
    ["betaling", "terugbetaling", "nieuwe periodieke opdracht", "wijziging van een periodieke opdracht", "einde van een periodieke opdracht", "kaartblokkade", "deblokkering", "betwisting", "nieuwe begunstigde", "wijziging van gegevens", "limiet", "iets anders"],
  ),
  pl: catalogue(
    ["Zapis banku z tej rozmowy mówi co innego.", "Potwierdzone przez Państwa", "Czeka na Państwa", "Anulowane lub zastąpione", "nic"],
    ["płatność", "zwrot", "nowe zlecenie stałe", "zmiana zlecenia stałego", "koniec zlecenia stałego", "blokada karty", "odblokowanie karty", "reklamacja", "nowy odbiorca", "zmiana danych", "limit", "coś innego"],
  ),
  pt: catalogue(
    ["Não é isso que diz o registo do banco sobre esta conversa.", "Confirmado por si", "À sua espera", "Cancelado ou substituído", "nada"],
    ["pagamento", "devolução", "nova ordem permanente", "alteração de uma ordem permanente", "fim de uma ordem permanente", "bloqueio de cartão", "desbloqueio de cartão", "contestação", "novo beneficiário", "alteração de dados", "limite", "outra coisa"],
  ),
  ar: catalogue(
    ["ليس هذا ما يقوله سجلّ المصرف عن هذه المحادثة.", "أكّدته أنت", "بانتظارك", "أُلغي أو استُبدل", "لا شيء"],
    ["دفعة", "ردّ مبلغ", "أمر دائم جديد", "تغيير أمر دائم", "إنهاء أمر دائم", "تجميد بطاقة", "إلغاء تجميد بطاقة", "اعتراض", "مستفيد جديد", "تغيير بيانات", "حدّ", "شيء آخر"],
  ),
};

/** The record in words, in a language that the bank's page speaks; English where it is another. */
export function recordInWords(record: Record, locale: string): string {
  const language = locale.split(/[-_]/, 1)[0]?.toLowerCase() ?? "";
  const say = (Object.hasOwn(OTHERS, language) ? OTHERS[language] : undefined) ?? ENGLISH;
  const list = (kinds: readonly string[]): string => {
    const named = kinds.map((kind) => (Object.hasOwn(say.kinds, kind) ? say.kinds[kind] : say.kinds["other"]) ?? "");
    return named.length === 0 ? say.nothing : named.join(", ");
  };
  return `${say.lead} ${say.confirmed}: ${list(record.confirmed)}. ${say.waiting}: ${list(record.waiting)}. ${say.dropped}: ${list(record.dropped)}.`;
}

/** A record as the bank sends it, or null for another form. */
export function asRecord(value: unknown): Record | null {
  if (typeof value !== "object" || value === null) return null;
  const lists = ["confirmed", "waiting", "dropped"].map((name) => (value as globalThis.Record<string, unknown>)[name]);
  const known = lists.every((list) => Array.isArray(list) && list.every((kind) => typeof kind === "string"));
  return known ? (value as Record) : null;
}
