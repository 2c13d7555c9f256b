/**
 * RDMA as a service: many logical connections ({@link io.verbena.raas.VirtualQp}) share one physical queue pair per
 * peer, with checks before posting so that no tenant can break the queue pair for the others, dispatch of completions
 * by virtual queue pair number, and request/reply messages on the same queue pairs.
 *
 * <p>Everything made from one {@link io.verbena.raas.RaasContext} belongs to one owner thread, which calls
 * {@link io.verbena.raas.RaasContext#poll()}; nothing blocks and nothing is locked. Time comes from the device's clock.
 * Knows nothing of tables, keys, membership or leases.
 */
package io.verbena.raas;
