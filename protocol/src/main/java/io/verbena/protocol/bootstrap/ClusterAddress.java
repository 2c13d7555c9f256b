package io.verbena.protocol.bootstrap;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;

/**
 * The address of a cluster: {@code verbena://host:port}, or, of one with a group of meta servers, those of all of them:
 * {@code verbena://host:port,host:port,host:port}.
 *
 * @param host   name or number of the host.
 * @param port   1 to 65,535; 0 to let the system choose, for a server only.
 * @param others of the group, each without others; the leader is at one of all.
 */
public record ClusterAddress(String host, int port, List<ClusterAddress> others)
{
    /** How the address begins. */
    public static final String SCHEME = "verbena";
    /** Where a meta server listens when nobody says otherwise. */
    public static final int DEFAULT_PORT = 7373;

    /** Copies the list. */
    public ClusterAddress
    {
        others = List.copyOf(others);
    }

    /**
     * Of a single meta server.
     *
     * @param host name or number of the host.
     * @param port as above.
     */
    public ClusterAddress(final String host, final int port)
    {
        this(host, port, List.of());
    }

    /**
     * Reads an address; the scheme, and ports with their default, may be left out.
     *
     * @param text {@code verbena://host:port}, {@code host:port} or {@code host}, or several separated by commas.
     * @return the address.
     * @throws BootstrapException when it cannot be one.
     */
    public static ClusterAddress parse(final String text)
    {
        final List<ClusterAddress> all = new ArrayList<>();
        for (final String each : text.split(",", -1))
        {
            all.add(parseOne(each));
        }
        final ClusterAddress first = all.removeFirst();
        return new ClusterAddress(first.host, first.port, all);
    }

    /** @return of each meta server of the group, or of the only one. */
    public List<ClusterAddress> all()
    {
        final List<ClusterAddress> all = new ArrayList<>();
        all.add(new ClusterAddress(host, port));
        all.addAll(others);
        return all;
    }

    private static ClusterAddress parseOne(final String text)
    {
        try
        {
            final URI uri = new URI(text.contains("://") ? text : SCHEME + "://" + text);
            final boolean isPlain = null == uri.getUserInfo() && null == uri.getQuery() && null == uri.getFragment() &&
                (null == uri.getPath() || uri.getPath().isEmpty() || "/".equals(uri.getPath()));
            if (SCHEME.equals(uri.getScheme()) && null != uri.getHost() && isPlain && uri.getPort() <= 0xFFFF)
            {
                return new ClusterAddress(uri.getHost(), uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort());
            }
        }
        catch (final URISyntaxException ex)
        {
            throw bad(text, ex);
        }
        throw bad(text, null);
    }

    /**
     * @param host name or address, of IPv6 with or without brackets.
     * @param port of its meta server.
     * @return the address of a cluster.
     */
    public static ClusterAddress of(final String host, final int port)
    {
        return new ClusterAddress(host.contains(":") && !host.startsWith("[") ? '[' + host + ']' : host, port);
    }

    private static BootstrapException bad(final String text, final Throwable cause)
    {
        return new BootstrapException(BootstrapException.Reason.BAD_ADDRESS,
            "not the address of a cluster: '" + text + "'; it looks like verbena://host:" + DEFAULT_PORT +
            (text.replaceFirst("^.*://", "").matches("[0-9a-fA-F.]*(:[0-9a-fA-F.]*){2,}") ?
            ", and with an address of IPv6 like verbena://[fd00::7]:" + DEFAULT_PORT : ""), cause);
    }

    @Override
    public String toString()
    {
        final StringBuilder text = new StringBuilder(SCHEME + "://" + host + ':' + port);
        others.forEach((other) -> text.append(',').append(other.host).append(':').append(other.port));
        return text.toString();
    }
}
