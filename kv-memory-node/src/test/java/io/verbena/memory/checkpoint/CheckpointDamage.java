package io.verbena.memory.checkpoint;

import java.util.ArrayList;
import java.util.List;

/** What a disk may do to a checkpoint. */
public final class CheckpointDamage
{
    private CheckpointDamage()
    {
    }

    /** A record is there by name only: a page names it, and its bytes are gone. */
    public static void removeOneRecord(final CheckpointStore store)
    {
        final List<Long> names = new ArrayList<>();
        store.forEachRecord((slot, checksum) -> names.addAll(List.of(slot, checksum)));
        store.putRecord(names.get(0), names.get(1), new byte[]{1});
        store.flush();
    }
}
