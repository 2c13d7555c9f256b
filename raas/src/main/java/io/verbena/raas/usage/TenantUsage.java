package io.verbena.raas.usage;

/**
 * What a tenant has done so far, and what it uses now.
 *
 * @param name            of the tenant.
 * @param weight          see {@link io.verbena.raas.TenantOptions#weight()}.
 * @param virtualQps      open.
 * @param batches         taken by {@link io.verbena.raas.VirtualQp#complete}.
 * @param requests        of these batches.
 * @param payloadBytes    of these requests.
 * @param waitedBatches   of these batches, those of which something waited for other tenants, a quota or a fence.
 * @param refusals        batches and calls that were QUEUE_FULL because of a quota.
 * @param unknownOutcomes batches that ended with an unknown outcome.
 * @param openBatches     begun and neither completed nor aborted.
 * @param calls           made and not over.
 * @param pinnedBytes     of memory registered.
 */
public record TenantUsage(
    String name,
    int weight,
    int virtualQps,
    long batches,
    long requests,
    long payloadBytes,
    long waitedBatches,
    long refusals,
    long unknownOutcomes,
    int openBatches,
    int calls,
    long pinnedBytes)
{
}
