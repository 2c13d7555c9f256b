package io.verbena.raas;

import java.util.ArrayList;
import java.util.List;

/** Remembers every callback. */
final class RecordingListener implements BatchListener
{
    record Done(int vqpNumber, int cookie, int status)
    {
    }

    final List<Done> done = new ArrayList<>();

    @Override
    public void onBatchComplete(final VirtualQp vqp, final int cookie, final int status)
    {
        done.add(new Done(vqp.number(), cookie, status));
    }

    List<Integer> cookies()
    {
        return done.stream().map(Done::cookie).toList();
    }

    List<Integer> statuses()
    {
        return done.stream().map(Done::status).toList();
    }
}
