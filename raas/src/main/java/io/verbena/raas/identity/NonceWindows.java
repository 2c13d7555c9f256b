package io.verbena.raas.identity;

import org.agrona.collections.Int2ObjectHashMap;

/**
 * Which numbers of requests to connect have been used: each is good once. Of each node the newest incarnation that has
 * proved itself is kept, with the highest number and the 64 below it, as in RFC 4303 section 3.4.3: requests may come
 * out of order. As many entries as there are node ids at most. One thread.
 */
public final class NonceWindows
{
    private static final class Window
    {
        private int incarnation;
        private long highest;
        /** Bit i: highest - i was used. */
        private long used;
    }

    private final Int2ObjectHashMap<Window> windows = new Int2ObjectHashMap<>();

    /**
     * Uses a number up, after its proof was found right.
     *
     * @param nodeId      who proved itself.
     * @param incarnation of it.
     * @param nonce       of the request.
     * @return false when it was used before or is too old, or a later incarnation of the node has been here.
     */
    public boolean use(final int nodeId, final int incarnation, final long nonce)
    {
        final Window window = windows.computeIfAbsent(nodeId, (_) -> new Window());
        if (incarnation < window.incarnation)
        {
            return false;
        }
        if (incarnation > window.incarnation)
        {
            window.incarnation = incarnation;
            window.highest = 0;
            window.used = 0;
        }
        final long ahead = nonce - window.highest;
        if (nonce < 1 || ahead <= -Long.SIZE)
        {
            return false;
        }
        if (ahead > 0)
        {
            window.used = ahead < Long.SIZE ? window.used << ahead : 0;
            window.highest = nonce;
        }
        final long bit = 1L << window.highest - nonce;
        final boolean isNew = (window.used & bit) == 0;
        window.used |= bit;
        return isNew;
    }
}
