/** @typedef {import("holdpoint-client/api").components["schemas"]} Schemas */

/** An error that Holdpoint answered (RFC 9457). A refusal of the gate has status 409. */
export class Problem extends Error {
  /**
   * @param {number} status
   * @param {Partial<Schemas["Problem"]>} answer
   */
  constructor(status, answer) {
    super(`holdpoint: ${status} ${answer.code ?? "no_problem_document"}: ${answer.reason ?? answer.detail ?? answer.title ?? ""}`);
    this.name = "Problem";
    this.status = status;
    /** The stable name: a refusal's code, or not_found, unauthorized, scope, invalid, … */
    this.code = answer.code ?? "no_problem_document";
    this.detail = answer.detail;
    /** A refusal in one sentence: why not, who can, what helps. */
    this.reason = answer.reason;
    this.operation = answer.operation;
    this.state = answer.state;
    this.nextDecision = answer.next_decision;
    this.responsible = answer.responsible;
    this.link = answer.link;
    /** With code rows: the first rows of a list that cannot go out, and how many there are. */
    this.rows = answer.rows;
    this.rowsTotal = answer.rows_total;
    /** Of a list of entries that is refused: the place of the first wrong one, from 1, and what of it is wrong. */
    this.entry = answer.entry;
    this.field = answer.field;
  }
}

/**
 * Gives the code with which the gate said no, or undefined when something broke instead.
 * @param {unknown} err
 * @returns {string | undefined}
 */
export function refused(err) {
  return err instanceof Problem && err.status === 409 ? err.code : undefined;
}

/**
 * Reports whether asking again may help: no answer, 429, or 5xx.
 * @param {unknown} err
 */
export function passing(err) {
  return !(err instanceof Problem) || err.status >= 500 || err.status === 429;
}
