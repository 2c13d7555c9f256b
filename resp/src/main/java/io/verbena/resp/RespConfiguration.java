package io.verbena.resp;

import io.verbena.resp.session.SlowOperations;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** How a node serves Redis' protocol. Filled by one thread, then not changed. */
public final class RespConfiguration
{
    /** Most threads for connections. */
    public static final int MOST_THREADS = 64;
    /** Most connections. */
    public static final int MOST_CLIENTS = 65_536;

    private String host = "127.0.0.1";
    private int port = 6379;
    private String table = "default";
    private byte[] password;
    private boolean isOpenToAll;
    private boolean isCluster;
    private String announcedHost;
    private Path tlsCertificate;
    private Path tlsKey;
    private Path tlsClientAuthorities;
    private SlowOperations slowOperations = SlowOperations.NONE;
    private int threads = 1;
    private int maxClients = 1024;
    private long timeoutNs = TimeUnit.SECONDS.toNanos(5);
    private long stallNs = TimeUnit.SECONDS.toNanos(60);
    private int maxCommandBytes = 8 << 20;
    private int maxOutputBytes = 16 << 20;
    private long maxBufferBytes = Runtime.getRuntime().maxMemory() / 4;

    /** @return address or name to listen on. */
    public String host()
    {
        return host;
    }

    /**
     * @param host address or name to listen on. Default 127.0.0.1, which other hosts do not reach.
     * @return this.
     */
    public RespConfiguration host(final String host)
    {
        this.host = host;
        return this;
    }

    /** @return port to listen on; 0: any. */
    public int port()
    {
        return port;
    }

    /**
     * @param port to listen on, 0 to 65,535; 0: any that is free. Default 6379.
     * @return this.
     */
    public RespConfiguration port(final int port)
    {
        this.port = port;
        return this;
    }

    /** @return name of the table of database 0. */
    public String table()
    {
        return table;
    }

    /**
     * @param table of database 0. Default "default".
     * @return this.
     */
    public RespConfiguration table(final String table)
    {
        this.table = table;
        return this;
    }

    /** @return whether clients see the compute nodes as a cluster of Redis. */
    public boolean isCluster()
    {
        return isCluster;
    }

    /**
     * @param isOn whether clients see the compute nodes as a cluster of Redis. Default: no.
     * @return this.
     */
    public RespConfiguration cluster(final boolean isOn)
    {
        isCluster = isOn;
        return this;
    }

    /** @return address or name that the nodes of the cluster announce for this one; null: {@link #host()}. */
    public String announcedHost()
    {
        return announcedHost;
    }

    /**
     * @param host address or name that the nodes of the cluster announce for this one; null, the default: that on which
     *             it listens.
     * @return this.
     */
    public RespConfiguration announcedHost(final String host)
    {
        announcedHost = host;
        return this;
    }

    /** @return the password, or null. Not to be changed. */
    byte[] password()
    {
        return password;
    }

    /**
     * @param password that clients must give; null: none, the default.
     * @return this.
     */
    public RespConfiguration password(final byte[] password)
    {
        this.password = null == password ? null : password.clone();
        return this;
    }

    /** @return PEM file of the chain of certificates; null: without TLS. */
    Path tlsCertificate()
    {
        return tlsCertificate;
    }

    /** @return PEM file of its private key. */
    Path tlsKey()
    {
        return tlsKey;
    }

    /** @return PEM file of the authorities of clients' certificates; null: clients need none. */
    Path tlsClientAuthorities()
    {
        return tlsClientAuthorities;
    }

    /**
     * Serves TLS, versions 1.2 and 1.3, and nothing else.
     *
     * @param certificate       PEM file of the chain of certificates; null: without TLS, the default.
     * @param key               PEM file of its private key, PKCS#8, without a password.
     * @param clientAuthorities PEM file of the authorities one of which has signed the certificate that each client
     *                          must have; null: clients need none.
     * @return this.
     */
    public RespConfiguration tls(final Path certificate, final Path key, final Path clientAuthorities)
    {
        tlsCertificate = certificate;
        tlsKey = key;
        tlsClientAuthorities = clientAuthorities;
        return this;
    }

    /** @return whether an address that other hosts reach may be served without a password. */
    public boolean isOpenToAll()
    {
        return isOpenToAll;
    }

    /**
     * @param isOpenToAll whether an address that other hosts reach may be served without a password. Default false.
     * @return this.
     */
    public RespConfiguration openToAll(final boolean isOpenToAll)
    {
        this.isOpenToAll = isOpenToAll;
        return this;
    }

    /** @return the slow operations of the node. */
    SlowOperations slowOperations()
    {
        return slowOperations;
    }

    /**
     * @param slowOperations of the node, for SLOWLOG and LATENCY. Default: none.
     * @return this.
     */
    public RespConfiguration slowOperations(final SlowOperations slowOperations)
    {
        this.slowOperations = slowOperations;
        return this;
    }

    /** @return threads for connections. */
    public int threads()
    {
        return threads;
    }

    /**
     * @param threads for connections, 1 to {@link #MOST_THREADS}. Default 1.
     * @return this.
     */
    public RespConfiguration threads(final int threads)
    {
        this.threads = threads;
        return this;
    }

    /** @return most connections at once. */
    public int maxClients()
    {
        return maxClients;
    }

    /**
     * @param maxClients connected at once, 1 to {@link #MOST_CLIENTS}; one more is refused. Default 1,024.
     * @return this.
     */
    public RespConfiguration maxClients(final int maxClients)
    {
        this.maxClients = maxClients;
        return this;
    }

    /** @return how long an operation may take. */
    public long timeoutNs()
    {
        return timeoutNs;
    }

    /**
     * @param timeoutNs of an operation. Default 5 s.
     * @return this.
     */
    public RespConfiguration timeoutNs(final long timeoutNs)
    {
        this.timeoutNs = timeoutNs;
        return this;
    }

    /** @return after how long a client is closed that leaves its replies unread. */
    public long stallNs()
    {
        return stallNs;
    }

    /**
     * @param stallNs after which a client is closed that leaves its replies unread. Default 60 s.
     * @return this.
     */
    public RespConfiguration stallNs(final long stallNs)
    {
        this.stallNs = stallNs;
        return this;
    }

    /** @return longest command that is kept. */
    public int maxCommandBytes()
    {
        return maxCommandBytes;
    }

    /** @return longest replies that may wait for one client. */
    public int maxOutputBytes()
    {
        return maxOutputBytes;
    }

    /** @return what the buffers of all clients may hold together. */
    public long maxBufferBytes()
    {
        return maxBufferBytes;
    }

    /**
     * @param maxCommandBytes longest command that is kept. Default 8 MiB.
     * @param maxOutputBytes  longest replies that may wait for one client. Default 16 MiB.
     * @param maxBufferBytes  what the buffers of all clients may hold together. Default a quarter of the heap.
     * @return this.
     */
    public RespConfiguration limits(final int maxCommandBytes, final int maxOutputBytes, final long maxBufferBytes)
    {
        this.maxCommandBytes = maxCommandBytes;
        this.maxOutputBytes = maxOutputBytes;
        this.maxBufferBytes = maxBufferBytes;
        return this;
    }

    /** Without the password. */
    @Override
    public String toString()
    {
        return "RespConfiguration{host=" + host + ", port=" + port + ", table=" + table + ", hasPassword=" +
            (null != password) + ", tlsCertificate=" + tlsCertificate + ", threads=" + threads + ", maxClients=" +
            maxClients + '}';
    }
}
