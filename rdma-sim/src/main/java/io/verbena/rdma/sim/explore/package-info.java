/**
 * Every order of the requests of a few actors, with crashes and late requests: {@link
 * io.verbena.rdma.sim.explore.SimExplorer} runs a scenario by all choices that differ in what can be observed.
 */
package io.verbena.rdma.sim.explore;
