package io.verbena.rdma.roce.udp;

import io.verbena.rdma.verbs.RdmaException;

/** System calls that failed, as errors that name the address and the remedy. */
final class SocketFailure
{
    private static final int PRIVILEGED_PORTS = 1024;

    private SocketFailure()
    {
    }

    /**
     * A port that could not be opened.
     *
     * @param call    that failed.
     * @param address as the user wrote it, without the port.
     * @param port    asked for, 0 for any.
     * @param errno   of the call.
     */
    static RdmaException opening(final String call, final String address, final int port, final int errno)
    {
        final String remedy = switch (errno)
        {
            case SocketConstants.EADDRNOTAVAIL ->
                "not an address of this host (EADDRNOTAVAIL): 'ip address' lists those that are, and as 'dadfailed' " +
                "one that another host of the link has";
            case SocketConstants.EADDRINUSE ->
                "the port is in use (EADDRINUSE): 'ss -ulpn sport = :" + port + "' shows by whom; give another port";
            case SocketConstants.EACCES, SocketConstants.EPERM -> port > 0 && port < PRIVILEGED_PORTS ?
                "no permission for a port below 1024 (EACCES): give a higher one" : "no permission (" +
                name(errno) + ')';
            case SocketConstants.EAFNOSUPPORT ->
                "the kernel has no such addresses (EAFNOSUPPORT): is IPv6 disabled? Give an IPv4 address";
            case SocketConstants.EMFILE, SocketConstants.ENFILE ->
                "no more files can be opened (" + name(errno) + "): raise the limit, 'ulimit -n'";
            case SocketConstants.EINVAL ->
                "refused as invalid (EINVAL): a link-local address needs its interface, as in fe80::1%eth0";
            default -> name(errno);
        };
        return new RdmaException("cannot open UDP port " + port + " of " + address + ": " + call + ": " + remedy);
    }

    /** An error of a packet sent, as a reason for that there is no answer. */
    static String reason(final int errno)
    {
        return switch (errno)
        {
            case SocketConstants.ECONNREFUSED -> "its host says that nobody has the port open (ECONNREFUSED)";
            case SocketConstants.EHOSTUNREACH -> "no host has the address, or a firewall refuses it (EHOSTUNREACH)";
            case SocketConstants.ENETUNREACH -> "no route leads there (ENETUNREACH)";
            case SocketConstants.ENETDOWN -> "the interface is down (ENETDOWN)";
            case SocketConstants.EACCES, SocketConstants.EPERM ->
                "a firewall refuses the packets (" + name(errno) + ')';
            case SocketConstants.EMSGSIZE ->
                "packets are longer than the way allows (EMSGSIZE); connect with a smaller path MTU";
            default -> name(errno);
        };
    }

    static String name(final int errno)
    {
        return switch (errno)
        {
            case SocketConstants.EPERM -> "EPERM";
            case SocketConstants.EACCES -> "EACCES";
            case SocketConstants.EMFILE -> "EMFILE";
            case SocketConstants.ENFILE -> "ENFILE";
            case SocketConstants.ENOBUFS -> "ENOBUFS";
            case SocketConstants.ENOMEM -> "ENOMEM";
            case SocketConstants.ETIMEDOUT -> "ETIMEDOUT";
            default -> "errno " + errno;
        };
    }
}
