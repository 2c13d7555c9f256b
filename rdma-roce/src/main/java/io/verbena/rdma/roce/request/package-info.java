/**
 * What a reliable queue pair has on the way: the READs and atomics that a requester waits for and those that a
 * responder has to answer, and the headers of a message's packets. Bounded and pure: no memory is accessed, nothing is
 * sent. Used by the thread that drives the engine.
 */
package io.verbena.rdma.roce.request;
