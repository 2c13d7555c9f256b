package io.verbena.meta.membership;

import org.agrona.collections.Int2ObjectHashMap;

import java.util.function.IntPredicate;

/**
 * Tells every memory node that one registration of a compute node is over, until each has cut it off. Complete when
 * every memory node that could have let it in has answered, or can be shown not to let it in any more ({@link
 * #settle}). There is no way to complete it by waiting: a memory node that does not answer may still let the node in.
 * One thread.
 */
public final class FencingRound
{
    /** The way to a memory node's fence call; implemented by whoever owns the connections. */
    public interface FenceCaller
    {
        /**
         * Asks a memory node to close every connection of a node and to refuse it from now on. Never blocks; the
         * answer, or the lack of one, comes exactly once through {@link #onAnswer}, possibly before this method
         * returns.
         *
         * @param memoryNodeId who is asked.
         * @param round        whom it is about and who gets the answer.
         */
        void fence(int memoryNodeId, FencingRound round);
    }

    private static final class Target
    {
        private boolean inFlight;
        private long dueAtNs;
        private int failures;
    }

    private final int nodeId;
    private final int incarnation;
    private final long retryNs;
    private final Int2ObjectHashMap<Target> pending = new Int2ObjectHashMap<>();
    private boolean delaysEpochs = true;

    /**
     * @param nodeId      who is fenced.
     * @param incarnation which registration of it.
     * @param retryNs     pause after a call that was not answered.
     */
    public FencingRound(final int nodeId, final int incarnation, final long retryNs)
    {
        this.nodeId = nodeId;
        this.incarnation = incarnation;
        this.retryNs = retryNs;
    }

    /**
     * Adds a memory node that may let the fenced node in.
     *
     * @param memoryNodeId to be notified.
     * @param nowNs        the clock now; it is notified at once.
     */
    public void addTarget(final int memoryNodeId, final long nowNs)
    {
        final Target target = new Target();
        target.dueAtNs = nowNs;
        pending.put(memoryNodeId, target);
    }

    /**
     * Calls the memory nodes that are due.
     *
     * @param nowNs  the clock now.
     * @param caller makes the calls.
     * @return calls made.
     */
    public int doWork(final long nowNs, final FenceCaller caller)
    {
        int workCount = 0;

        // A call may be answered within itself, which changes the map: one call, then a new look.
        for (int memoryNodeId = nextDue(nowNs); 0 != memoryNodeId; memoryNodeId = nextDue(nowNs))
        {
            pending.get(memoryNodeId).inFlight = true;
            caller.fence(memoryNodeId, this);
            workCount++;
        }

        return workCount;
    }

    /**
     * Takes the outcome of a call.
     *
     * @param memoryNodeId who was asked.
     * @param isFenced     whether it confirmed; anything else is asked again.
     * @param nowNs        the clock now.
     */
    public void onAnswer(final int memoryNodeId, final boolean isFenced, final long nowNs)
    {
        final Target target = pending.get(memoryNodeId);

        if (null == target)
        {
            return;
        }

        if (isFenced)
        {
            pending.remove(memoryNodeId);
        }
        else
        {
            target.inFlight = false;
            target.failures++;
            target.dueAtNs = nowNs + retryNs;
        }
    }

    /**
     * Counts a memory node as having cut the fenced node off without its answer: it left in good order, or it came
     * back as a new incarnation that closed all its old connections first and admits only members.
     *
     * @param memoryNodeId whom.
     */
    public void settle(final int memoryNodeId)
    {
        pending.remove(memoryNodeId);
    }

    /** @return whether the fenced node can reach no memory node any more. */
    public boolean isComplete()
    {
        return pending.isEmpty();
    }

    /**
     * @param memoryNodeId to look for.
     * @return whether it has not confirmed yet.
     */
    public boolean isPending(final int memoryNodeId)
    {
        return pending.containsKey(memoryNodeId);
    }

    /**
     * @param isTrue of the id of a memory node.
     * @return whether it is true of all that have not confirmed yet.
     */
    boolean pendingMatch(final IntPredicate isTrue)
    {
        final Int2ObjectHashMap<Target>.KeyIterator ids = pending.keySet().iterator();

        while (ids.hasNext())
        {
            if (!isTrue.test(ids.nextInt()))
            {
                return false;
            }
        }

        return true;
    }

    /** @return whether epochs wait for it; if not, those who have not confirmed are asked all the same. */
    public boolean delaysEpochs()
    {
        return delaysEpochs;
    }

    /** No epoch waits for it from now on: see {@link LostMemoryNodes}. */
    void letEpochsPass()
    {
        delaysEpochs = false;
    }

    /** @return who is fenced. */
    public int nodeId()
    {
        return nodeId;
    }

    /** @return which registration of it. */
    public int incarnation()
    {
        return incarnation;
    }

    @Override
    public String toString()
    {
        final StringBuilder text = new StringBuilder("FencingRound{nodeId=" + nodeId + " incarnation=" + incarnation);
        pending.forEach((id, target) ->
            text.append(" waitsFor=").append(id).append(" failures=").append(target.failures));
        return text.append('}').toString();
    }

    private int nextDue(final long nowNs)
    {
        final Int2ObjectHashMap<Target>.EntryIterator iterator = pending.entrySet().iterator();

        while (iterator.hasNext())
        {
            iterator.next();
            final Target target = iterator.getValue();

            if (!target.inFlight && target.dueAtNs - nowNs <= 0)
            {
                return iterator.getIntKey();
            }
        }

        return 0;
    }
}
