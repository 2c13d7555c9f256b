package io.verbena.cli.hosts;

/**
 * An emulated host.
 *
 * @param number from 1.
 */
record Host(int number)
{
    String name()
    {
        return "h" + number;
    }

    String ipv6()
    {
        return "fd00:77::" + Integer.toHexString(number);
    }

    String ipv4()
    {
        return "10.77.0." + number;
    }

    /** The other end of its link, in the network namespace of the switch. */
    String switchPort()
    {
        return "w" + number;
    }
}
