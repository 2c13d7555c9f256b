/**
 * The public interface of the store: {@link io.verbena.client.KvClient}, {@link io.verbena.client.KvTable}, their
 * results, their exceptions, and the routing of operations over compute nodes. It owns argument checks, deadlines as a
 * caller sees them, and the choice of a compute node; it must not know how tables are laid out in memory, which verbs
 * an
 * operation takes, or which provider is underneath.
 */
package io.verbena.client;
