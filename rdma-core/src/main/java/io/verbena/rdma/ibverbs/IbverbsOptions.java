package io.verbena.rdma.ibverbs;

import io.verbena.rdma.verbs.RdmaException;

/**
 * What follows the colon of a fabric's name: {@link #SYNTAX}.
 *
 * @param device   name of the RNIC; empty for the first one with an active port.
 * @param port     1 or more.
 * @param gidIndex index in the port's GID table, or -1 to choose.
 * @param host     address of the connection service; empty to take the one in the GID.
 * @param windows  whether to offer memory windows.
 */
record IbverbsOptions(String device, int port, int gidIndex, String host, Windows windows)
{
    static final String SYNTAX = "DEVICE[,port=N][,gid=INDEX][,host=IPV4][,windows=probe|on|off]";

    /** Whether memory windows are offered: when the device honours their bounds, always, or never. */
    enum Windows
    {
        PROBE, ON, OFF
    }

    static IbverbsOptions parse(final String argument)
    {
        final String[] parts = argument.split(",", -1);
        int port = 1;
        int gidIndex = -1;
        String host = "";
        Windows windows = Windows.PROBE;
        for (int i = 1; i < parts.length; i++)
        {
            final String[] pair = parts[i].split("=", 2);
            final String value = pair.length == 2 ? pair[1] : "";
            switch (pair[0])
            {
                case "port" -> port = number(parts[i], value, 1, 255);
                case "gid" -> gidIndex = number(parts[i], value, 0, 255);
                case "host" -> host = value;
                case "windows" -> windows = windows(parts[i], value);
                default -> throw bad(parts[i]);
            }
        }
        if (parts[0].contains("=") || !host.isEmpty() && !host.matches("\\d{1,3}(\\.\\d{1,3}){3}"))
        {
            throw bad(argument);
        }
        return new IbverbsOptions(parts[0], port, gidIndex, host, windows);
    }

    private static Windows windows(final String part, final String value)
    {
        return switch (value)
        {
            case "probe" -> Windows.PROBE;
            case "on" -> Windows.ON;
            case "off" -> Windows.OFF;
            default -> throw bad(part);
        };
    }

    private static int number(final String part, final String value, final int least, final int most)
    {
        if (value.matches("\\d{1,3}") && Integer.parseInt(value) >= least && Integer.parseInt(value) <= most)
        {
            return Integer.parseInt(value);
        }
        throw bad(part);
    }

    private static RdmaException bad(final String part)
    {
        return new RdmaException("bad fabric argument '" + part + "': ibverbs takes " + SYNTAX);
    }
}
