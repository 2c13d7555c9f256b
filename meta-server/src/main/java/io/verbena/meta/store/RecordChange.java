package io.verbena.meta.store;

import java.util.Map;

/**
 * One record of the durable state, as a change puts or removes it.
 *
 * @param key    of the record.
 * @param record its new bytes, not to be changed by anyone; null: it is removed.
 */
record RecordChange(String key, byte[] record)
{
    void applyTo(final Map<String, byte[]> records)
    {
        if (null == record)
        {
            records.remove(key);
        }
        else
        {
            records.put(key, record);
        }
    }
}
