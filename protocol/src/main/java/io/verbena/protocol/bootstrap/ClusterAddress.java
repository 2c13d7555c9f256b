package io.verbena.protocol.bootstrap;

import java.net.URI;
import java.net.URISyntaxException;

/**
 * The one address of a cluster: {@code verbena://host:port}.
 *
 * @param host name or number of the host.
 * @param port 1 to 65,535; 0 to let the system choose, for a server only.
 */
public record ClusterAddress(String host, int port)
{
    /** How the address begins. */
    public static final String SCHEME = "verbena";
    /** Where a meta server listens when nobody says otherwise. */
    public static final int DEFAULT_PORT = 7373;

    /**
     * Reads an address; the scheme, and the port with its default, may be left out.
     *
     * @param text {@code verbena://host:port}, {@code host:port} or {@code host}.
     * @return the address.
     * @throws BootstrapException when it cannot be one.
     */
    public static ClusterAddress parse(final String text)
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
        return SCHEME + "://" + host + ':' + port;
    }
}
