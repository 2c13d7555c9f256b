package io.verbena.protocol.bootstrap;

import io.verbena.protocol.bootstrap.BootstrapException.Reason;
import io.verbena.rdma.verbs.DeviceAddress;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.DatagramSocket;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Names of the fabric {@code roce}, whose processes may be on several hosts: a cluster's handshake says {@code roce}
 * alone, and each process opens it at an address of its own host. Unless the user names another fabric, that is
 * {@code soft:network=ADDRESS} or {@code soft:network=[ADDRESS]:PORT}, with shared memory for processes of one host and
 * user; {@code roce:ADDRESS} is the network alone. All of them reach each other. A cluster that says {@code
 * roce,encrypt} seals packets with the key of its token file, and so does each process that joins with that file. Names
 * of other fabrics pass unchanged. Stateless.
 */
public final class NetworkFabric
{
    /** Name of the fabric, and of its provider. */
    public static final String NAME = "roce";
    /** By which a cluster says that it is on the fabric, and that packets are sealed with its token. */
    public static final String SEALED_NAME = "roce,encrypt";
    /** How names of the fabric begin that is the memory of one host. */
    private static final String ONE_HOST = "soft";
    /** Names that say where this process is on the network, without what follows that. */
    private static final Pattern NETWORKED =
        Pattern.compile(NAME + ":(?<place>[^,]*)(?:,.*)?|" + ONE_HOST + ":(?:.*,)?network=(?<both>[^,]*)(?:,.*)?");
    /** What stands last in a name, if at all. */
    private static final String HUGE_PAGES = ",huge-pages";
    private static final String KEY_FILE = ",encrypt=";
    private static final String CLEAR_ACCEPTED = ",clear=accepted";
    private static final int MAX_PORT = 0xFFFF;
    private static final int REACH_TIMEOUT_MS = 3_000;
    /** [ADDRESS]:PORT, [ADDRESS], ADDRESS of IPv6, or HOST:PORT and HOST. */
    private static final Pattern PLACE =
        Pattern.compile("\\[(?<bracketed>[^\\[\\]]+)](?::(?<port>\\d{1,5}))?|" +
            "(?<ipv6>[^\\[\\]]*:[^\\[\\]]*:[^\\[\\]]*)|(?<host>[^\\[\\]:]+)(?::(?<hostport>\\d{1,5}))?");

    private NetworkFabric()
    {
    }

    /** @return whether processes on several hosts may use the fabric of that name. */
    public static boolean isNetwork(final String fabric)
    {
        return NAME.equals(fabric) || SEALED_NAME.equals(fabric) || NETWORKED.matcher(fabric).matches();
    }

    /** @return whether the cluster seals packets with its token. */
    public static boolean isSealed(final BootstrapAnswer cluster)
    {
        return SEALED_NAME.equals(cluster.fabric());
    }

    /** @return whether what other hosts are sent on the fabric of that name is sealed. */
    public static boolean isSealed(final String fabric)
    {
        return isNetwork(fabric) && fabric.contains(KEY_FILE);
    }

    /** @return whether other hosts reach the fabric of that name by connections in clear. */
    public static boolean takesClear(final String fabric)
    {
        final boolean isOfOneHost = fabric.startsWith(ONE_HOST) && !isNetwork(fabric);
        return !isOfOneHost && (!isSealed(fabric) || fabric.contains(CLEAR_ACCEPTED));
    }

    /**
     * Has packets to other hosts sealed.
     *
     * @param fabric          its name with what this process has there.
     * @param keyFile         the cluster's token file.
     * @param isClearAccepted whether peers that have no token, clients of users, are taken as well.
     * @return the name with that; as it is where it says so already, or is that of no network.
     * @throws BootstrapException when the file's name cannot be part of a fabric's.
     */
    public static String sealed(final String fabric, final Path keyFile, final boolean isClearAccepted)
    {
        if (!isNetwork(fabric) || isSealed(fabric))
        {
            return fabric;
        }
        final String file = keyFile.toAbsolutePath().normalize().toString();
        if (file.indexOf(',') >= 0)
        {
            throw bad("token file " + file + " is the key that packets are sealed with, and has a comma in its name, " +
                "which names of fabrics cannot have: move it", null);
        }
        return before(fabric, KEY_FILE + file + (isClearAccepted ? CLEAR_ACCEPTED : ""));
    }

    private static String before(final String fabric, final String option)
    {
        final boolean isHuge = fabric.endsWith(HUGE_PAGES);
        return (isHuge ? fabric.substring(0, fabric.length() - HUGE_PAGES.length()) : fabric) + option +
            (isHuge ? HUGE_PAGES : "");
    }

    /**
     * @param place address of this host, {@code [ADDRESS]:PORT}, or an interface.
     * @return name of the fabric by which peers of this host share memory and others take the network.
     */
    public static String ofHost(final String place)
    {
        return ONE_HOST + ":network=" + place;
    }

    /** @return the name by which a cluster says on which fabric it is. */
    public static String clusterName(final String fabric)
    {
        return isNetwork(fabric) ? NAME : fabric;
    }

    /**
     * The fabric of a process that joins a cluster.
     *
     * @param cluster   what the cluster answered.
     * @param given     fabric that the user names, or null.
     * @param advertise address of this host, with or without a port, by which others reach this process; null: the one
     *                  from which there is a route to the cluster.
     * @param tokenFile of the cluster, with which packets are sealed where the cluster does so; null: this process has
     *                  none, as the client of a user, and sends them in clear.
     * @return its name here.
     * @throws BootstrapException when there is no route, or the address is none of this host.
     */
    public static String toJoin(
        final BootstrapAnswer cluster, final String given, final String advertise, final Path tokenFile)
    {
        final String name = toJoin(cluster, given, advertise);
        return isSealed(cluster) && null != tokenFile ? sealed(name, tokenFile, false) : name;
    }

    private static String toJoin(final BootstrapAnswer cluster, final String given, final String advertise)
    {
        if (null != given && !NAME.equals(given))
        {
            requireNone(advertise, given);
            return given;
        }
        if (!isNetwork(cluster.fabric()))
        {
            requireNone(advertise, cluster.fabric());
            return cluster.fabric();
        }
        return null == advertise ? name(towards(address(cluster.metaServer().device())), 0) : at(advertise);
    }

    /**
     * The fabric of a meta server.
     *
     * @param fabric    that the user names.
     * @param listen    where the cluster is found.
     * @param advertise address of this host, with or without a port, by which others reach it; null: that of
     *                  {@code listen}.
     * @return its name here.
     * @throws BootstrapException when that says no address of this host.
     */
    public static String toServe(final String fabric, final ClusterAddress listen, final String advertise)
    {
        if (!NAME.equals(fabric))
        {
            requireNone(advertise, fabric);
            return fabric;
        }
        if (null == advertise && resolve(listen.host()).isAnyLocalAddress())
        {
            throw bad("--listen " + listen.host() + " is every address of this host, and the fabric needs one: give " +
                "--advertise ADDRESS, one of " + ownAddresses(), null);
        }
        return at(null == advertise ? listen.host() : advertise);
    }

    private static void requireNone(final String advertise, final String fabric)
    {
        if (null != advertise)
        {
            throw bad("--advertise " + advertise + " is for the fabric " + NAME + ", and this is " + fabric +
                ": leave it out", null);
        }
    }

    /** @return the host of {@code ADDRESS} or {@code ADDRESS:PORT}. */
    public static String host(final String place)
    {
        final Matcher matcher = PLACE.matcher(place);
        if (!matcher.matches())
        {
            throw bad("'" + place + "' is no address: it looks like 10.0.0.7, fd00::7 or [fd00::7]:4791", null);
        }
        return null != matcher.group("bracketed") ? matcher.group("bracketed") :
            null != matcher.group("ipv6") ? matcher.group("ipv6") : matcher.group("host");
    }

    private static int port(final String place)
    {
        final Matcher matcher = PLACE.matcher(place);
        final String digits = !matcher.matches() ? null :
            null != matcher.group("port") ? matcher.group("port") : matcher.group("hostport");
        final int port = null == digits ? 0 : Integer.parseInt(digits);
        if (port > MAX_PORT || null != digits && 0 == port)
        {
            throw bad("port " + digits + " of '" + place + "' must be 1 to " + MAX_PORT, null);
        }
        return port;
    }

    private static String at(final String place)
    {
        final InetAddress address = resolve(host(place));
        if (address.isAnyLocalAddress() || !isOwn(address))
        {
            throw bad(literal(address) + " is no address of this host: it has " + ownAddresses(), null);
        }
        return name(address, port(place));
    }

    private static String name(final InetAddress address, final int port)
    {
        if (address.isLinkLocalAddress())
        {
            throw bad(literal(address) + " is an address of one link alone, and peers need one that is the same " +
                "everywhere: give --advertise ADDRESS, one of " + ownAddresses(), null);
        }
        final String text = literal(address);
        return ofHost(0 == port ? text : '[' + text + "]:" + port);
    }

    /** @return the address of this host from which packets go to another address. */
    private static InetAddress towards(final InetAddress remote)
    {
        try (DatagramSocket socket = new DatagramSocket())
        {
            socket.connect(new InetSocketAddress(remote, 1)); // sends nothing; any port does
            return socket.getLocalAddress();
        }
        catch (final SocketException | UncheckedIOException ex)
        {
            throw new BootstrapException(Reason.UNREACHABLE, "no route from this host to " + literal(remote) +
                ", the address of the cluster's meta server on its fabric: " + ex.getMessage() +
                "; this host has " + ownAddresses(), ex);
        }
    }

    /**
     * Checks that the meta server's fabric can be reached from this host.
     *
     * @param asked   where the cluster answered.
     * @param cluster what it answered.
     * @param local   name of the fabric here.
     * @throws BootstrapException that names the address and the port that do not answer, within 3 s.
     */
    public static void requireReachable(
        final ClusterAddress asked, final BootstrapAnswer cluster, final String local)
    {
        if (!isNetwork(cluster.fabric()) || !isNetwork(local))
        {
            requireSameHost(asked, cluster.fabric());
            return;
        }
        final InetAddress remote = address(cluster.metaServer().device());
        final int port = port(cluster);
        final String what = literal(remote) + " port " + port + "/tcp, the meta server's fabric";
        try (Socket socket = new Socket())
        {
            socket.connect(new InetSocketAddress(remote, port), REACH_TIMEOUT_MS);
        }
        catch (final SocketTimeoutException ex)
        {
            throw new BootstrapException(Reason.UNREACHABLE, "no answer from " + what + ", within " +
                REACH_TIMEOUT_MS / 1_000 + " s: is it open, as tcp and as udp, in the firewalls between? " +
                "'meta-server --advertise [ADDRESS]:PORT' gives it the same port each time", ex);
        }
        catch (final ConnectException ex)
        {
            throw new BootstrapException(Reason.UNREACHABLE, "nothing listens at " + what + (
                remote.isLoopbackAddress() ? ": it can be reached from its own host alone, start it with --listen " +
                "or --advertise of an address that this host reaches" : ": is it up?") + " (" + ex.getMessage() + ')',
                ex);
        }
        catch (final IOException ex)
        {
            throw new BootstrapException(
                Reason.UNREACHABLE, "cannot reach " + what + ": " + ex.getMessage(), ex);
        }
    }

    /**
     * Why a meta server may be silent whose port has just been reached.
     *
     * @param cluster what the cluster answered.
     * @return a clause that follows what happened; empty where the cluster is on no network.
     */
    public static String whySilent(final BootstrapAnswer cluster)
    {
        return isNetwork(cluster.fabric()) ? "; " + literal(address(cluster.metaServer().device())) + " port " +
            port(cluster) + "/tcp has answered: is " + port(cluster) + "/udp open, too, in the firewalls between?" : "";
    }

    /**
     * @param cluster what the cluster answered.
     * @param device  of one of its nodes.
     * @return where it is, for people: on a network such as "fd00::2 port 4800".
     */
    public static String place(final BootstrapAnswer cluster, final DeviceAddress device)
    {
        return isNetwork(cluster.fabric()) ? literal(address(device)) + " port " + port(device) : device.toString();
    }

    private static int port(final BootstrapAnswer cluster)
    {
        return port(cluster.metaServer().device());
    }

    private static int port(final DeviceAddress device)
    {
        return (int)device.serviceLocator() & MAX_PORT;
    }

    private static void requireSameHost(final ClusterAddress asked, final String fabric)
    {
        if (fabric.startsWith(ONE_HOST) && !isOwn(resolve(asked.host())))
        {
            throw new BootstrapException(Reason.UNREACHABLE, "the cluster at " + asked + " is on fabric " + fabric +
                ", the memory of its own host: start it with 'meta-server --fabric " + NAME + "' to join it from " +
                "this one", null);
        }
    }

    private static boolean isOwn(final InetAddress address)
    {
        try
        {
            return address.isAnyLocalAddress() || null != NetworkInterface.getByInetAddress(address);
        }
        catch (final SocketException ex)
        {
            throw bad("interfaces of this host cannot be listed: " + ex.getMessage(), ex);
        }
    }

    /**
     * @param listen    where a process listens.
     * @param advertise address by which others reach its host, with or without a port; null: as it listens.
     * @return where others reach it; null where it listens at every address of its host, and none is given.
     */
    public static ClusterAddress announced(final ClusterAddress listen, final String advertise)
    {
        return null != advertise ? ClusterAddress.of(host(advertise), listen.port()) :
            resolve(listen.host()).isAnyLocalAddress() ? null : listen;
    }

    /**
     * @param place name or address of a host, or the name of an interface.
     * @return whether other hosts may reach what listens there.
     */
    public static boolean isForOtherHosts(final String place)
    {
        try
        {
            final NetworkInterface named = NetworkInterface.getByName(place);
            return null == named ? !resolve(place).isLoopbackAddress() : !named.isLoopback();
        }
        catch (final SocketException ex)
        {
            throw bad("interfaces of this host cannot be listed: " + ex.getMessage(), ex);
        }
    }

    /**
     * The fabric of a process that answers peers by several threads.
     *
     * @param fabric  its name with what this process has there.
     * @param threads 1 or more; 1 leaves the name as it is.
     * @return the name with so many threads.
     * @throws BootstrapException when peers need no thread there: in the memory of one host, or by an RNIC.
     */
    public static String withThreads(final String fabric, final int threads)
    {
        if (1 == threads)
        {
            return fabric;
        }
        if (null == place(fabric))
        {
            throw bad("--responder-threads " + threads + " is for fabric " + NAME + ", and on fabric " + fabric +
                " no thread answers peers: leave it out", null);
        }
        return before(fabric, ",threads=" + threads);
    }

    /** @return the address or interface in the name of a fabric; null where that is on no network. */
    public static String place(final String fabric)
    {
        final Matcher matcher = NETWORKED.matcher(fabric);
        return matcher.matches() ?
            host(null == matcher.group("both") ? matcher.group("place") : matcher.group("both")) : null;
    }

    /**
     * @param place name or address of a host, or the name of an interface of this one.
     * @return the address that a device opened on such an interface has: its first of IPv6 that other hosts can use,
     *     else one of IPv4; {@code place} itself where that is no interface.
     * @throws BootstrapException when the interface has no address.
     */
    public static String addressOf(final String place)
    {
        try
        {
            final NetworkInterface named = NetworkInterface.getByName(place);
            return null == named ? place : named.inetAddresses().filter((address) -> !address.isLinkLocalAddress())
                .min(Comparator.comparing((address) -> !(address instanceof Inet6Address)))
                .map(NetworkFabric::literal)
                .orElseThrow(() -> bad("interface " + place + " has no address: give one, or another interface; " +
                    "this host has " + ownAddresses(), null));
        }
        catch (final SocketException ex)
        {
            throw bad("interfaces of this host cannot be listed: " + ex.getMessage(), ex);
        }
    }

    private static InetAddress resolve(final String host)
    {
        try
        {
            return InetAddress.getByName(host);
        }
        catch (final UnknownHostException ex)
        {
            throw bad("unknown host '" + host + "': give an address of this host, one of " + ownAddresses(), ex);
        }
    }

    private static BootstrapException bad(final String message, final Throwable cause)
    {
        return new BootstrapException(Reason.BAD_ADDRESS, message, cause);
    }

    private static InetAddress address(final DeviceAddress device)
    {
        try
        {
            return InetAddress.getByAddress(
                ByteBuffer.allocate(2 * Long.BYTES).putLong(device.gidHigh()).putLong(device.gidLow()).array());
        }
        catch (final UnknownHostException ex)
        {
            throw new IllegalStateException("16 bytes are an address", ex);
        }
    }

    private static String ownAddresses()
    {
        try
        {
            return NetworkInterface.networkInterfaces()
                .flatMap((each) -> each.inetAddresses().filter((address) -> !address.isLinkLocalAddress())
                    .map((address) -> literal(address) + " (" + each.getName() + ')'))
                .collect(Collectors.joining(", "));
        }
        catch (final SocketException ex)
        {
            return "no address that can be listed";
        }
    }

    /** The JDK writes IPv6 addresses in full, with the interface; people write them short. */
    static String literal(final InetAddress address)
    {
        if (!(address instanceof Inet6Address))
        {
            return address.getHostAddress();
        }
        final String full = ':' + address.getHostAddress().replaceFirst("%.*", "") + ':';
        String longest = "";
        final Matcher zeros = Pattern.compile(":0(?::0)+(?=:)").matcher(full);
        while (zeros.find())
        {
            longest = zeros.group().length() > longest.length() ? zeros.group() : longest;
        }
        final String text = longest.isEmpty() ? full : full.replaceFirst(longest, ":");
        return text.substring(text.startsWith("::") ? 0 : 1, text.length() - (text.endsWith("::") ? 0 : 1));
    }
}
