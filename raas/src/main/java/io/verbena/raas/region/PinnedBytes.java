package io.verbena.raas.region;

import io.verbena.raas.limit.RaasLimit;
import io.verbena.raas.limit.RaasLimitException;

import java.util.concurrent.atomic.AtomicLong;

/** Memory that one tenant has registered. Regions may be closed by any thread. */
public final class PinnedBytes
{
    private final String tenant;
    private final long most;
    private final AtomicLong used = new AtomicLong();

    public PinnedBytes(final String tenant, final long most)
    {
        this.tenant = tenant;
        this.most = most;
    }

    /** Takes so many; throws, and takes none, when that would exceed the quota. */
    void take(final long bytes)
    {
        final long now = used.addAndGet(bytes);
        if (now > most || now < 0)
        {
            used.addAndGet(-bytes);
            throw new RaasLimitException(new RaasLimit(
                "bytes registered by tenant '" + tenant + "'", now - bytes, most, "TenantOptions.pinnedBytes"));
        }
    }

    void giveBack(final long bytes)
    {
        used.addAndGet(-bytes);
    }

    public long used()
    {
        return used.get();
    }
}
