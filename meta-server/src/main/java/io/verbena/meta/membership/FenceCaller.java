package io.verbena.meta.membership;

/** The way to a memory node's fence call; implemented by whoever owns the connections. */
public interface FenceCaller
{
    /**
     * Asks a memory node to close every connection of a node and to refuse it from now on. Never blocks; the answer, or
     * the lack of one, comes exactly once through {@link FencingRound#onAnswer}, possibly before this method returns.
     *
     * @param memoryNodeId who is asked.
     * @param round        whom it is about and who gets the answer.
     */
    void fence(int memoryNodeId, FencingRound round);
}
