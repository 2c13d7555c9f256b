package io.verbena.compute;

import io.verbena.compute.figures.DeniedTally;
import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.session.MetaLink;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Reports what a node denies to the meta server, for its audit log: once a second at most. A report that is lost is not
 * repeated; figures of the node have the counts. The node's thread.
 */
final class DenialReports
{
    private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

    private final MetaLink metaLink;
    private final DeniedTally denied;
    private final Supplier<AccessRules> access;
    private final long timeoutNs;
    private ControlCall<Void> call;
    private long nextNs;

    /** @param timeoutNs of a call. */
    DenialReports(
        final MetaLink metaLink, final DeniedTally denied, final Supplier<AccessRules> access, final long nowNs,
        final long timeoutNs)
    {
        this.metaLink = metaLink;
        this.denied = denied;
        this.access = access;
        this.timeoutNs = timeoutNs;
        nextNs = nowNs;
    }

    int poll(final long nowNs)
    {
        if (null != call && call.isDone())
        {
            call = null;
        }
        if (denied.isEmpty() || null != call || nextNs - nowNs > 0 || !metaLink.isUsable())
        {
            return 0;
        }
        nextNs = nowNs + PAUSE_NS;
        call = metaLink.client().reportDenials(denied.take(access.get()), timeoutNs);
        return 1;
    }
}
