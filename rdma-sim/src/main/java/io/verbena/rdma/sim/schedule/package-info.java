/**
 * What happens when, in a simulated run: decisions by a seed, a recording or a search; delays, faults and the costs of
 * an RNIC; steps in the order of virtual time, and the trace of those that were executed. Knows no device and no verb.
 */
package io.verbena.rdma.sim.schedule;
