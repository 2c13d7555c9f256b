package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.DeviceAddress;

import java.util.function.IntSupplier;

/**
 * That a device for peers of one host is reached by a network, too.
 *
 * @param address there, by which peers know it; null without a network.
 * @param random  where its keys and numbers of queue pairs come from, not to be guessed; null without a network, where
 *                they may follow each other, since peers share memory with it anyway.
 */
public record NetworkUse(DeviceAddress address, IntSupplier random)
{
    /** There is none. */
    public static final NetworkUse NONE = new NetworkUse(null, null);
}
