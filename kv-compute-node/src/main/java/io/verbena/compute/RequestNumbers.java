package io.verbena.compute;

/** Numbers of requests that may be made again, unique in one registration of a node. Owned by the node's thread. */
final class RequestNumbers
{
    private long last;

    /** @return 1, 2, 3 and so on. */
    long next()
    {
        return ++last;
    }
}
