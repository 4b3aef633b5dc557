import { render } from 'preact';

import { Page } from './page';
import './style.css';

const place = document.getElementById('page');
if (place !== null) render(<Page />, place);
