package io.verbena.rdma.roce.device;

import io.verbena.rdma.connection.ConnectionSecret;
import io.verbena.rdma.roce.engine.EngineOptions;
import io.verbena.rdma.verbs.RdmaException;

import java.nio.file.Path;

/**
 * What follows the colon of a fabric's name: {@link #SYNTAX}.
 *
 * @param host    IPv6 or IPv4 address of a local interface, or the name of one.
 * @param port    UDP and TCP port of the first device; 0 for any. Others take any.
 * @param mtu     most bytes of payload in a packet: 256, 512, 1024, 2048 or 4096; 0 for what the interface carries.
 * @param spinUs  microseconds for which a thread that waits for packets polls before it sleeps, 0 to 1,000: it answers
 *               without being woken, and keeps its processor busy that long after each packet, while that brings
 *               packets and nobody else wants the processor.
 * @param threads that answer peers, 1 to 32; each has a UDP port, the one after the other where {@code port} is given.
 * @param memory  directory of registered memory; null for the one of the {@code soft} provider.
 * @param secret  with whose keys the packets of all connections are sealed; null: they go in clear.
 * @param isClearAccepted whether peers that ask for a connection in clear get one, where there is a secret.
 */
public record RoceFabricOptions(
    String host,
    int port,
    int mtu,
    int spinUs,
    int threads,
    Path memory,
    ConnectionSecret secret,
    boolean isClearAccepted)
{
    /** For {@code --help}. */
    public static final String SYNTAX =
        "ADDRESS|[ADDRESS]:PORT|INTERFACE[,mtu=BYTES][,spin_us=US][,threads=N][,encrypt=KEYFILE[,clear=accepted]]" +
        "[,memory=DIRECTORY]";

    private static final String DEFAULT_HOST = "::1";
    private static final int MAX_PORT = 65_535;
    private static final int MAX_SPIN_US = 1_000;
    /** Longer than an exchange with a host of the same switch takes. */
    private static final int DEFAULT_SPIN_US = 50;

    /**
     * Parses.
     *
     * @param argument what follows the colon.
     * @return the options.
     * @throws RdmaException that names what is wrong and what is right.
     */
    public static RoceFabricOptions parse(final String argument)
    {
        final String[] parts = argument.split(",", -1);
        String host = parts[0];
        int port = 0;
        if (host.startsWith("["))
        {
            final int end = host.indexOf(']');
            if (end < 0 || end + 1 < host.length() && host.charAt(end + 1) != ':')
            {
                throw bad(host);
            }
            port = end + 1 == host.length() ? 0 : port(host.substring(end + 2), host);
            host = host.substring(1, end);
        }
        else if (host.indexOf(':') >= 0 && host.indexOf(':') == host.lastIndexOf(':'))
        {
            port = port(host.substring(host.indexOf(':') + 1), host);
            host = host.substring(0, host.indexOf(':'));
        }
        int mtu = 0;
        int spinUs = DEFAULT_SPIN_US;
        int threads = 1;
        Path memory = null;
        ConnectionSecret secret = null;
        boolean isClearAccepted = false;
        for (int i = 1; i < parts.length; i++)
        {
            final String[] pair = parts[i].split("=", 2);
            if (pair.length != 2 || pair[1].isEmpty())
            {
                throw bad(parts[i]);
            }
            switch (pair[0])
            {
                case "mtu" -> mtu = mtu(pair[1], parts[i]);
                case "spin_us" -> spinUs = spinUs(pair[1], parts[i]);
                case "threads" -> threads = threads(pair[1], parts[i]);
                case "memory" -> memory = Path.of(pair[1]);
                case "encrypt" -> secret = ConnectionSecret.read(Path.of(pair[1]));
                case "clear" -> isClearAccepted = isAccepted(pair[1], parts[i]);
                default -> throw bad(parts[i]);
            }
        }
        if (isClearAccepted && secret == null)
        {
            throw new RdmaException("bad fabric argument '" + argument + "': clear=accepted says what is taken " +
                "besides sealed packets, so give encrypt=KEYFILE, too");
        }
        if (host.isEmpty() && port != 0 || host.contains("="))
        {
            throw bad(argument);
        }
        if (port != 0 && port + threads - 1 > MAX_PORT)
        {
            throw new RdmaException("bad fabric argument '" + argument + "': " + threads + " threads have UDP ports " +
                "from " + port + " on, and " + MAX_PORT + " is the last one");
        }
        return new RoceFabricOptions(host.isEmpty() ? DEFAULT_HOST : host, port, mtu, spinUs, threads, memory,
            secret, isClearAccepted);
    }

    /** In clear; parameters as of the record. */
    public RoceFabricOptions(
        final String host, final int port, final int mtu, final int spinUs, final int threads, final Path memory)
    {
        this(host, port, mtu, spinUs, threads, memory, null, false);
    }

    /**
     * The same at a port.
     *
     * @param otherPort of the device; 0 for any.
     * @return the options.
     */
    public RoceFabricOptions atPort(final int otherPort)
    {
        return new RoceFabricOptions(host, otherPort, mtu, spinUs, threads, memory, secret, isClearAccepted);
    }

    /**
     * Finds out whether the address can be had here.
     *
     * @throws RdmaException when it is none of this host, or its interface does not carry such long packets.
     */
    public void check()
    {
        localAddress();
    }

    /**
     * The address of this host that is meant.
     *
     * @throws RdmaException when there is none, or its interface does not carry such long packets.
     */
    LocalAddress localAddress()
    {
        final LocalAddress address = LocalAddress.of(host, secret != null);
        if (mtu > address.payloadBytes())
        {
            throw new RdmaException("mtu=" + mtu + " is too long for interface " + address.linkName() +
                ", which carries payloads of " + address.payloadBytes() + " bytes: raise the interface's MTU, or mtu=" +
                address.payloadBytes());
        }
        return address;
    }

    private static int port(final String text, final String part)
    {
        if (text.matches("\\d{1,5}") && Integer.parseInt(text) >= 1 && Integer.parseInt(text) <= MAX_PORT)
        {
            return Integer.parseInt(text);
        }
        throw bad(part);
    }

    private static int mtu(final String text, final String part)
    {
        if (text.matches("256|512|1024|2048|4096"))
        {
            return Integer.parseInt(text);
        }
        throw new RdmaException("bad fabric argument '" + part + "': mtu is 256, 512, 1024, 2048 or 4096, the most " +
            "bytes of data in a packet");
    }

    private static int spinUs(final String text, final String part)
    {
        if (text.matches("\\d{1,4}") && Integer.parseInt(text) <= MAX_SPIN_US)
        {
            return Integer.parseInt(text);
        }
        throw new RdmaException("bad fabric argument '" + part + "': spin_us is 0 to " + MAX_SPIN_US +
            " microseconds, which a thread polls before it sleeps");
    }

    private static int threads(final String text, final String part)
    {
        if (text.matches("\\d{1,2}") && Integer.parseInt(text) >= 1 &&
            Integer.parseInt(text) <= EngineOptions.MAX_LANES)
        {
            return Integer.parseInt(text);
        }
        throw new RdmaException("bad fabric argument '" + part + "': threads is 1 to " + EngineOptions.MAX_LANES +
            ", which answer peers");
    }

    private static boolean isAccepted(final String text, final String part)
    {
        if (!text.equals("accepted"))
        {
            throw new RdmaException("bad fabric argument '" + part + "': clear=accepted is all that it can be; " +
                "without it connections in clear are refused");
        }
        return true;
    }

    private static RdmaException bad(final String part)
    {
        return new RdmaException("bad fabric argument '" + part + "': roce takes " + SYNTAX +
            ", such as roce:::1 or roce:[fd00::1]:4791");
    }
}
