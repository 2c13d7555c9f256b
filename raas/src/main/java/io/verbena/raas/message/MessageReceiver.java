package io.verbena.raas.message;

/** Who has a number in a {@link MessageTable}: messages with that number are for it. */
public interface MessageReceiver
{
    /** Whether it receives over this queue pair; messages with its number that come over others are forged. */
    boolean isOver(Object queuePair);

    /**
     * A message is in a receive slot of its queue pair, which is posted again by the receiver.
     *
     * @return false when it takes none of this kind any more; then the slot is the caller's still.
     */
    boolean onArrived(int kind, int slot, int lengthBytes);

    /** What it posted over a queue pair that was accepted has completed: the oldest of it. */
    void onSendComplete();

    /** Its queue pair is closed: nothing comes any more. */
    void onQueuePairClosed();

    /** Sees to it that it is noticed if the peer is gone, although nothing is sent. */
    void probe();

    /** Somebody is refused from now on; perhaps it is who sends to this one. */
    void onRefused();

    /**
     * Does what had to wait.
     *
     * @return whether it has to be called again.
     */
    boolean poll(long nowNs);
}
