package io.verbena.raas;

/**
 * The DC target through which a node lets others READ before they are connected, see {@link ReadTarget}.
 *
 * @param number    of the target on the node's device; 0 where there is none.
 * @param accessKey that it expects.
 */
public record ReadTargetAddress(int number, long accessKey)
{
    /** Of a node that has none. */
    public static final ReadTargetAddress NONE = new ReadTargetAddress(0, 0);

    /** @return whether there is one. */
    public boolean isThere()
    {
        return number != 0;
    }
}
