/**
 * Verbs objects of another process, as proxies: what lets the suite hold both ends of a connection while the responder
 * lives in a process of its own. Owns the channel and its bytes; must not know what the rules are.
 */
package io.verbena.rdma.conformance.remote;
