package io.verbena.raas.completion;

/** What else changes when a virtual queue pair ends, which is known by its number. */
public interface VirtualQpOwner
{
    /** It FAILED or was closed: no call over it is answered any more. */
    void onEnded();

    /** It was closed: it waits for no channel any more. */
    void onClosed(int number);

    /** It is closed and nothing of it is outstanding any more: its number is free. */
    void onReleased(int number);
}
