package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.RdmaException;

import java.util.ArrayList;
import java.util.List;

/** Range and name of each queue pair attribute. Pure. */
final class AttributeRanges
{
    private static final int MAX_24_BITS = 0xFF_FFFF;
    private static final int FIRST_MTU_BYTES = 256;
    private static final int LAST_MTU_BYTES = 4096;
    private static final String[] NAMES = {
        "STATE", "", "", "ACCESS_FLAGS", "PKEY_INDEX", "PORT", "QKEY", "ADDRESS_VECTOR", "PATH_MTU", "TIMEOUT",
        "RETRY_COUNT", "RNR_RETRY", "RQ_PSN", "MAX_READ_ATOMIC", "", "MIN_RNR_TIMER", "SQ_PSN",
        "MAX_DESTINATION_READ_ATOMIC", "", "", "DESTINATION_NUMBER" };

    private AttributeRanges()
    {
    }

    /** The attributes of a mask in words. */
    static List<String> names(final int mask)
    {
        final List<String> names = new ArrayList<>();
        for (int bit = 0; bit < Integer.SIZE; bit++)
        {
            if ((mask & 1 << bit) != 0)
            {
                names.add(bit < NAMES.length && !NAMES[bit].isEmpty() ? NAMES[bit] : "bit " + bit);
            }
        }
        return names;
    }

    /** Throws when an attribute that was given has no possible value. */
    static void check(
        final QueuePairAttributes given, final int maxReadAtomic, final int portNumber, final String transition)
    {
        check(given, QueuePairAttributes.ACCESS_FLAGS, given.accessFlags() & ~AccessFlags.ALL_REMOTE, 0, 0, transition);
        check(given, QueuePairAttributes.PKEY_INDEX, given.pkeyIndex(), 0, 0, transition);
        check(given, QueuePairAttributes.PORT, given.port(), portNumber, portNumber, transition);
        check(given, QueuePairAttributes.TIMEOUT, given.timeout(), 0, 31, transition);
        check(given, QueuePairAttributes.RETRY_COUNT, given.retryCount(), 0, 7, transition);
        check(given, QueuePairAttributes.RNR_RETRY, given.rnrRetry(), 0, 7, transition);
        check(given, QueuePairAttributes.MIN_RNR_TIMER, given.minRnrTimer(), 0, 31, transition);
        check(given, QueuePairAttributes.RQ_PSN, given.rqPsn(), 0, MAX_24_BITS, transition);
        check(given, QueuePairAttributes.SQ_PSN, given.sqPsn(), 0, MAX_24_BITS, transition);
        check(given, QueuePairAttributes.DESTINATION_NUMBER, given.destinationNumber(), 0, MAX_24_BITS, transition);
        check(given, QueuePairAttributes.MAX_READ_ATOMIC, given.maxReadAtomic(), 0, maxReadAtomic, transition);
        check(given, QueuePairAttributes.MAX_DESTINATION_READ_ATOMIC, given.maxDestinationReadAtomic(), 0,
            maxReadAtomic, transition);
        final int mtu = given.pathMtuBytes();
        check(given, QueuePairAttributes.PATH_MTU, mtu, FIRST_MTU_BYTES, LAST_MTU_BYTES, transition);
        if (given.has(QueuePairAttributes.PATH_MTU) && Integer.bitCount(mtu) != 1)
        {
            throw new RdmaException("PATH_MTU must be a power of two: value=" + mtu + ", " + transition);
        }
        if (given.has(QueuePairAttributes.ADDRESS_VECTOR) && given.destination() == null)
        {
            throw new RdmaException("ADDRESS_VECTOR must not be null: " + transition);
        }
    }

    private static void check(
        final QueuePairAttributes given,
        final int attribute,
        final int value,
        final int min,
        final int max,
        final String transition)
    {
        if (given.has(attribute) && (value < min || value > max))
        {
            throw new RdmaException(
                names(attribute).get(0) + " is out of range: value=" + value + ", allowed " + min + " to " + max +
                ", " + transition);
        }
    }
}
