/**
 * What clients called and what was returned: events, operations, histories, and the files they are kept in.
 *
 * <p>Owns the formats (Jepsen's EDN, JSON lines, the binary recording) and the rules of a well-formed history. It must
 * not know any model or checker, nor anything of the system that was observed.
 */
package io.verbena.elle.history;
