package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.RdmaException;

/** What both sides of a connection have to keep to. */
final class ConnectionRules
{
    private static final int KNOWN_ACCESS_FLAGS = 0x3F;
    private static final int PSN_BITS = 24;

    private ConnectionRules()
    {
    }

    static int newPsn(final ConnectionDevice device)
    {
        // So that packets of an earlier connection do not count as this one's.
        return device.random().nextInt(1 << PSN_BITS);
    }

    static void checkPrivateData(final byte[] privateData)
    {
        check("privateData", privateData.length, 0, ConnectionRequest.MAX_PRIVATE_DATA_BYTES);
    }

    static void checkServicePort(final int servicePort)
    {
        check("servicePort", servicePort, 1, 65_535);
    }

    static void checkAccessFlags(final int accessFlags)
    {
        if ((accessFlags & ~KNOWN_ACCESS_FLAGS) != 0)
        {
            throw new RdmaException("unknown access flags: 0x" + Integer.toHexString(accessFlags));
        }
    }

    private static void check(final String what, final int value, final int least, final int most)
    {
        if (value < least || value > most)
        {
            throw new RdmaException(what + "=" + value + " is not from " + least + " to " + most);
        }
    }
}
