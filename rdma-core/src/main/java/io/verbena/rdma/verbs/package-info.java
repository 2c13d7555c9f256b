/**
 * The verbs contract: protection domains, registered memory, queue pairs, completion queues and the connection service,
 * named as the InfiniBand verbs specification names them. Everything above this module is written against this package
 * and never asks which provider is underneath.
 *
 * <p>Rules that hold for every type here unless it says otherwise: a parent object outlives its children, closing a
 * parent with open children is refused with {@link io.verbena.rdma.verbs.RdmaException}; {@code close()} is idempotent;
 * hot-path methods (post, poll) neither allocate nor throw for expected outcomes; misuse throws.
 */
package io.verbena.rdma.verbs;
