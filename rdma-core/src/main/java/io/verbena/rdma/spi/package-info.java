/**
 * What the software providers share: raw memory access with the contract's atomicity, the key table, the staging of
 * requests and the receive queue. Owns no policy about when or by whom a request is executed; that is a provider's.
 * Not for users of the verbs.
 */
package io.verbena.rdma.spi;
