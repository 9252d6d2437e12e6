// The panel's one script. Each page starts the parts it has.
import { CardList } from "./cards.js";
import { startDemoSwitch } from "./demo.js";
import { startChat } from "./frame.js";
import { watchWindow } from "./gesture.js";
import { listen } from "./live.js";
import { startLogin } from "./login.js";
import { startNotMe } from "./notme.js";
import { startPasskeys } from "./passkeys.js";
import { startTimes } from "./times.js";
const signingIn = startLogin();
if (!signingIn) {
    startDemoSwitch();
    startTimes();
    startNotMe();
    startPasskeys();
    if (document.getElementById("cards") !== null) {
        watchWindow();
        const list = new CardList();
        void list.refresh();
        listen(() => void list.refresh());
        startChat();
    }
}
