/**
 * What the software providers share: raw memory access with the contract's atomicity, key and window tables, staging of
 * requests, receive queues, and the rules of the verbs as pure tables: operations and flags per type, transitions of
 * states, statuses of failed checks, timers. Owns no policy about when or by whom a request is executed; that is a
 * provider's. Not for users of the verbs.
 */
package io.verbena.rdma.spi;
