/**
 * The {@code sim} provider: one thread, virtual time, and one seed that decides everything. The same contract as any
 * other provider, with each request executed in one or more later steps, so that a node can stop, pause or die between
 * any two of them. Here are {@link io.verbena.rdma.sim.SimWorld}, which runs many nodes of production code step by
 * step, and the search for a seed that fails; below, {@code schedule} decides, {@code device} carries out,
 * {@code explore} tries every order. Nothing here is thread-safe. Knows nothing of what the bytes mean.
 */
package io.verbena.rdma.sim;
