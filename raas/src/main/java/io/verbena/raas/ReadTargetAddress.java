package io.verbena.raas;

/**
 * The DC target through which a node lets others READ before they are connected, see {@link ReadTarget}.
 *
 * @param number    of the target on the node's device, with {@link #ALL_RIGHTS} where it gives every right; 0 where
 *                  there is none.
 * @param accessKey that it expects.
 */
public record ReadTargetAddress(int number, long accessKey)
{
    /** In the number of a target through which a key may be used for all that it gives. Numbers have 24 bits. */
    public static final int ALL_RIGHTS = 1 << 30;

    /** Of a node that has none. */
    public static final ReadTargetAddress NONE = new ReadTargetAddress(0, 0);

    /** @return whether there is one. */
    public boolean isThere()
    {
        return number != 0;
    }

    /** @return whether a peer may stay on DC with requests of all kinds, under keys of its own. */
    public boolean carriesWrites()
    {
        return (number & ALL_RIGHTS) != 0;
    }

    /** @return as the device knows it. */
    public int targetNumber()
    {
        return number & ~ALL_RIGHTS;
    }
}
