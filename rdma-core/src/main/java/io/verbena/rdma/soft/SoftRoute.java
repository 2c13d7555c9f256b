package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.spi.WorkRequest;

/**
 * Leads requests that name where they go. Owner thread, {@linkplain AccessMark marked inside} unless said otherwise.
 */
interface SoftRoute
{
    /** As {@link SoftRequester#execute}. May change the mark's device. */
    int execute(WorkRequest request);

    /** Nothing is under way. */
    void rest();

    /** Lets go of what it leads to; inside or outside. */
    void disconnect();
}
