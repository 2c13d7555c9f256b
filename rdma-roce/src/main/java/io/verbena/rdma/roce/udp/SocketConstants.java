package io.verbena.rdma.roce.udp;

/** Numbers of Linux's socket interface, the same on x86-64 and AArch64 ({@code asm-generic} headers). */
final class SocketConstants
{
    static final int AF_INET = 2;
    static final int AF_INET6 = 10;
    /** SOCK_DGRAM, not blocking, closed when another program is executed. */
    static final int DATAGRAM = 2 | 0x800 | 0x80000;
    /** EFD_NONBLOCK and EFD_CLOEXEC. */
    static final int EVENT_FLAGS = 0x800 | 0x80000;

    static final int SOL_IP = 0;
    static final int SOL_SOCKET = 1;
    static final int SOL_UDP = 17;
    static final int SOL_IPV6 = 41;
    static final int SO_SNDBUF = 7;
    static final int SO_RCVBUF = 8;
    static final int SO_SNDBUFFORCE = 32;
    static final int SO_RCVBUFFORCE = 33;
    static final int IP_TOS = 1;
    static final int IP_MTU_DISCOVER = 10;
    static final int IP_RECVERR = 11;
    static final int IP_RECVTOS = 13;
    static final int IP_MTU = 14;
    static final int IPV6_MTU_DISCOVER = 23;
    static final int IPV6_MTU = 24;
    static final int IPV6_RECVERR = 25;
    static final int IPV6_RECVTCLASS = 66;
    static final int IPV6_TCLASS = 67;
    static final int UDP_NO_CHECK6_RX = 102;
    static final int UDP_SEGMENT = 103;
    static final int UDP_GRO = 104;
    /** IP_PMTUDISC_DO and IPV6_PMTUDISC_DO: "don't fragment", and heed what routers say of their MTU. */
    static final int PMTUDISC_DO = 2;

    static final int MSG_DONTWAIT = 0x40;
    static final int MSG_ERRQUEUE = 0x2000;
    static final short POLLIN = 1;
    static final short POLLERR = 8;

    static final int EPERM = 1;
    static final int EINTR = 4;
    static final int EIO = 5;
    static final int EAGAIN = 11;
    static final int ENOMEM = 12;
    static final int EACCES = 13;
    static final int EINVAL = 22;
    static final int ENFILE = 23;
    static final int EMFILE = 24;
    static final int EMSGSIZE = 90;
    static final int EOPNOTSUPP = 95;
    static final int EAFNOSUPPORT = 97;
    static final int EADDRINUSE = 98;
    static final int EADDRNOTAVAIL = 99;
    static final int ENETDOWN = 100;
    static final int ENETUNREACH = 101;
    static final int ENOBUFS = 105;
    static final int ETIMEDOUT = 110;
    static final int ECONNREFUSED = 111;
    static final int EHOSTUNREACH = 113;

    /** Two bits of the traffic class: "this sender heeds congestion marks", ECT(0). */
    static final int ECN_CAPABLE = 2;
    /** The same bits when a router had a long queue, CE. */
    static final int ECN_CONGESTED = 3;
    static final int ECN_MASK = 3;

    private SocketConstants()
    {
    }
}
