package io.verbena.rdma.spi;

/**
 * What a window is bound to.
 *
 * @param key             it was bound under.
 * @param queuePairNumber through which alone it is valid.
 * @param region          it gives rights on.
 * @param firstAddress    of the window as peers name it; 0 when zero-based.
 * @param address         of the same byte in the region's terms.
 * @param lengthBytes     1 or more.
 * @param accessFlags     rights.
 */
public record WindowBinding(
    int key,
    int queuePairNumber,
    RegisteredRegion region,
    long firstAddress,
    long address,
    long lengthBytes,
    int accessFlags)
{
    /**
     * Decides whether bytes are all inside.
     *
     * @param accessAddress first byte, as peers name it.
     * @param accessBytes   length, 0 or more.
     * @return whether they are.
     */
    public boolean contains(final long accessAddress, final long accessBytes)
    {
        final long offset = accessAddress - firstAddress;
        return offset >= 0 && offset <= lengthBytes - accessBytes;
    }

    /**
     * Translates an address inside.
     *
     * @param accessAddress as peers name it.
     * @return in the region's terms.
     */
    public long regionAddress(final long accessAddress)
    {
        return accessAddress - firstAddress + address;
    }
}
