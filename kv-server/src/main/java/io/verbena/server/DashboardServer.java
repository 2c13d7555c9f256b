package io.verbena.server;

import com.sun.net.httpserver.HttpServer;
import io.verbena.server.dashboard.DashboardSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A dashboard without a health endpoint, on loopback only, with the limits of a {@link HealthServer}. */
public final class DashboardServer implements AutoCloseable
{
    private final HttpServer http;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    private DashboardServer(final HttpServer http, final DashboardSource source)
    {
        this.http = http;
        HealthServer.serve(http, source);
        http.setExecutor(threads);
        http.start();
    }

    /**
     * Listens on loopback.
     *
     * @param port   0 lets the system choose.
     * @param source what it shows; closed by the caller after the server.
     * @return the server.
     * @throws UncheckedIOException when the port is busy; one line that says so.
     */
    public static DashboardServer open(final int port, final DashboardSource source)
    {
        HealthServer.setLimits();
        try
        {
            return new DashboardServer(
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0), source);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException("cannot listen for the dashboard at port " + port + ": " +
                ex.getMessage() + "; choose another port, or 0 for any", ex);
        }
    }

    /** @return where it listens. */
    public int port()
    {
        return http.getAddress().getPort();
    }

    /** Answers nothing any more. */
    @Override
    public void close()
    {
        http.stop(0);
        threads.shutdownNow();
    }
}
