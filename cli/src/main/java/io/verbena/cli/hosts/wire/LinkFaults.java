package io.verbena.cli.hosts.wire;

/**
 * What befalls frames on their way from one host to another. Probabilities are from 0 to 1, for each frame alone.
 *
 * @param loss           probability that a frame is lost.
 * @param duplicate      that it arrives twice.
 * @param corrupt        that one bit behind its Ethernet header is inverted.
 * @param reorder        that it is held back, so that later ones overtake it.
 * @param delayNs        how long each frame is under way.
 * @param rateBitsPerS   of each host's link, in each direction; 0 for no limit.
 * @param seed           of all these decisions: the same frames of a link have the same fate.
 */
public record LinkFaults(
    double loss, double duplicate, double corrupt, double reorder, long delayNs, long rateBitsPerS, long seed)
{
    /** Nothing befalls them. */
    public static final LinkFaults NONE = new LinkFaults(0, 0, 0, 0, 0, 0, 0);
    /** A frame that is held back waits for up to this long. */
    public static final long HELD_NS = 1_000_000;
    /** A link of limited rate drops frames that would wait for longer than this at one end. */
    public static final long QUEUE_NS = 20_000_000;

    /** @return whether every frame arrives once, in order and at once. */
    public boolean isNone()
    {
        return 0 == loss && 0 == duplicate && 0 == corrupt && 0 == reorder && 0 == delayNs && 0 == rateBitsPerS;
    }
}
