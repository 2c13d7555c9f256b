package io.verbena.resp;

import io.verbena.resp.session.ClientPause;
import io.verbena.resp.session.ServedPort;
import io.verbena.resp.session.SlowLog;
import io.verbena.resp.session.SlowOperations;

import java.util.List;

/** A port without clients. */
final class FixedPort implements ServedPort
{
    private final ClientPause pause = new ClientPause();

    @Override
    public ClientPause pause()
    {
        return pause;
    }

    @Override
    public List<Client> clients()
    {
        return List.of();
    }

    @Override
    public int connections()
    {
        return 0;
    }

    @Override
    public int maxConnections()
    {
        return 1;
    }

    @Override
    public long acceptances()
    {
        return 0;
    }

    @Override
    public long refusals()
    {
        return 0;
    }

    @Override
    public long evictions()
    {
        return 0;
    }

    @Override
    public long commandCount()
    {
        return 0;
    }

    @Override
    public long bufferBytes()
    {
        return 0;
    }

    @Override
    public long maxBufferBytes()
    {
        return 1;
    }

    @Override
    public int port()
    {
        return 1;
    }

    @Override
    public long openedNs()
    {
        return 0;
    }

    @Override
    public SlowLog slowLog()
    {
        return new SlowLog(SlowOperations.NONE);
    }
}
