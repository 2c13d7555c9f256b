package io.verbena.raas;

import io.verbena.raas.batch.StagedBatch;
import io.verbena.raas.completion.Numbers;
import io.verbena.raas.completion.RequestId;
import io.verbena.raas.limit.RaasLimit;

import java.util.Arrays;

/**
 * The virtual queue pairs that are open, by number. An index is given again only when nothing of its last holder is in
 * flight, so that a late completion never reaches a new one. The table grows with what is open.
 */
final class VirtualQpTable implements ChannelScheduler.VirtualQps
{
    private static final int LEAST_CAPACITY = 64;

    private final int maxOpen;
    private final Tenants tenants;
    private VirtualQp[] byIndex = new VirtualQp[LEAST_CAPACITY];
    private final Numbers numbers;
    private int openCount;
    private long swallowedCompletions;

    /**
     * @param maxOpen most virtual queue pairs open at once.
     * @param tenants whose listeners are called in turns where there are several.
     */
    VirtualQpTable(final int maxOpen, final Tenants tenants)
    {
        this.maxOpen = maxOpen;
        numbers = new Numbers(maxOpen);
        this.tenants = tenants;
    }

    /** Gives a number; {@link RequestId#CALLS} when all are in use. */
    int allocate()
    {
        return numbers.allocate();
    }

    void add(final VirtualQp vqp)
    {
        final int index = Numbers.index(vqp.number());
        if (index >= byIndex.length)
        {
            byIndex = Arrays.copyOf(byIndex, Math.min(maxOpen + 1, 2 * index));
        }
        byIndex[index] = vqp;
        openCount++;
    }

    /** Nothing of a closed holder is in flight any more. */
    void release(final VirtualQp vqp)
    {
        byIndex[Numbers.index(vqp.number())] = null;
        numbers.release(vqp.number());
        openCount--;
    }

    RaasLimit limit()
    {
        return new RaasLimit("virtual queue pairs", openCount, maxOpen, "RaasConfiguration.maxVirtualQps");
    }

    int openCount()
    {
        return openCount;
    }

    /** Completions whose holder had closed. */
    long swallowedCompletions()
    {
        return swallowedCompletions;
    }

    @Override
    public void onBatchDone(final int number, final int cookie, final int status)
    {
        if (tenants.isShared())
        {
            final VirtualQp vqp = find(number);
            tenants.onEnded(
                vqp == null ? tenants.first() : vqp.tenant(), RequestId.encode(number, cookie), status);
        }
        else
        {
            callBack(number, cookie, status);
        }
    }

    /** Calls the listener of a batch that has ended. */
    void callBack(final int number, final int cookie, final int status)
    {
        final VirtualQp vqp = find(number);
        if (vqp == null || !vqp.onBatchDone(cookie, status))
        {
            swallowedCompletions++;
        }
    }

    /** The holder of a number; null when it is released. */
    VirtualQp find(final int number)
    {
        final VirtualQp vqp = byIndex[Numbers.index(number)];
        return vqp == null || vqp.number() != number ? null : vqp;
    }

    @Override
    public boolean isReady(final int number)
    {
        final VirtualQp vqp = find(number);
        return vqp != null && vqp.state() == VirtualQp.State.READY;
    }

    @Override
    public boolean mayPost(final int number)
    {
        final VirtualQp vqp = find(number);
        if (vqp == null || vqp.state() == VirtualQp.State.FAILED)
        {
            return false;
        }
        if (vqp.isGrantOver())
        {
            vqp.fail(vqp.peer() + ": the grant ended before requests were posted that waited for other tenants");
            return false;
        }
        return true;
    }

    @Override
    public boolean mayReplay(final int number, final StagedBatch batch, final PeerGrants grants)
    {
        if (!isReady(number))
        {
            return false;
        }
        final VirtualQp vqp = find(number);
        if (vqp.isGrantOver())
        {
            vqp.fail(vqp.peer() + ": the grant ended before a queue pair that broke was replaced");
            return false;
        }
        if (!vqp.tenant().checks().redirect(batch, vqp.defaultRegion(), grants))
        {
            vqp.fail(vqp.peer() + ": the peer grants other memory than before a queue pair broke");
            return false;
        }
        return true;
    }

    /** The holder at an index, or null; for looking at all of them. */
    VirtualQp at(final int index)
    {
        return byIndex[index];
    }

    /** Behind the last index that was ever given. */
    int capacity()
    {
        return numbers.capacity();
    }
}
